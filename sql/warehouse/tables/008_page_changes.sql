-- What changed about a page since its last known listing or report.
create table page_changes (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null,
  change varchar not null,
  from_value varchar,
  to_value varchar,
  from_snapshot_id varchar,
  to_snapshot_id varchar not null,
  observed_at timestamptz not null
)
