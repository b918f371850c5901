-- The listing's journal as it is on disk: entries, rejects and sources, followed by the line of their window. An entry
-- has the fields of the contract.
create or replace temp view journal_listing as
select *
from read_json(
  getvariable('listing_file'),
  format = 'newline_delimited',
  columns = {
    kind: 'VARCHAR',
    walk: 'INTEGER',
    "window": 'INTEGER',
    position: 'INTEGER',
    keep: 'INTEGER',
    "at": 'TIMESTAMPTZ',
    url: 'VARCHAR',
    canonicals_match_present: 'BOOLEAN',
    absent: 'VARCHAR[]',
    extra: 'VARCHAR',
    issues: 'VARCHAR',
    payload: 'VARCHAR',
    drift: 'STRUCT(kind VARCHAR, field VARCHAR, "value" VARCHAR)[]',
    entry: getvariable('entry_type'),
    source: getvariable('source_type')
  }
)
