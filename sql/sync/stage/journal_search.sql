-- The journal of search analytics as it is on disk: the rows of each day, followed by the line of the day.
create or replace temp view journal_search as
select *
from read_json(
  getvariable('search_file'),
  format = 'newline_delimited',
  columns = {
    kind: 'VARCHAR',
    "date": 'DATE',
    "type": 'VARCHAR',
    is_final: 'BOOLEAN',
    is_cut: 'BOOLEAN',
    pages: 'INTEGER',
    clicks: 'BIGINT',
    impressions: 'BIGINT',
    "at": 'TIMESTAMPTZ',
    unknown: 'VARCHAR',
    "left": 'INTEGER',
    doubtful: 'INTEGER',
    "rows": 'STRUCT(url VARCHAR, spelling VARCHAR, clicks BIGINT, impressions BIGINT, "position" DOUBLE)[]'
  }
)
