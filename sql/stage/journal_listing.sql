-- The listing's journal as it lies on disk: entries, rejects and the line of each window behind them.
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
    entry: 'STRUCT(
      url VARCHAR,
      index_summary VARCHAR,
      index_coverage_state VARCHAR,
      canonicals_match BOOLEAN,
      searchengine_selected_canonical VARCHAR,
      user_selected_canonical VARCHAR,
      last_crawl_time TIMESTAMPTZ,
      days_since_last_crawl INTEGER,
      inspection_link VARCHAR,
      service_link VARCHAR
    )'
  }
)
