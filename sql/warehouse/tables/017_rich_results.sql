-- The rich results that an inspection found: one row per inspected page, type and issue. A type without an issue has one
-- row, and so has an indexed page without any type.
create table rich_results (
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null using compression 'fsst',
  inspected_at timestamptz not null,
  verdict varchar,
  rich_result_type varchar,
  items integer not null,
  severity varchar,
  issue varchar,
  occurrences integer not null
)
