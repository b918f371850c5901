-- The journal of report answers as it is on disk. A report has the fields of the contract.
create or replace temp view journal_reports as
select *
from read_json(
  getvariable('reports_file'),
  format = 'newline_delimited',
  columns = {
    kind: 'VARCHAR',
    url: 'VARCHAR',
    reason: 'VARCHAR',
    "at": 'TIMESTAMPTZ',
    http_status: 'INTEGER',
    message: 'VARCHAR',
    absent: 'VARCHAR[]',
    extra: 'VARCHAR',
    issues: 'VARCHAR',
    payload: 'VARCHAR',
    report: getvariable('report_type')
  }
)
