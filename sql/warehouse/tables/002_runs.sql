-- One row per website and run, including runs that committed nothing.
create table runs (
  run_id varchar not null,
  website_id varchar not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  outcome varchar not null,
  snapshot_id varchar,
  error varchar,
  requests_sent integer not null,
  requests_throttled integer not null,
  requests_retried integer not null,
  snapshot_date date not null
)
