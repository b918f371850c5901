-- Planned reports that have no row: the page has no report (`missing`, 404) or the request failed (`failed`).
create table report_failures (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null,
  attempted_at timestamptz not null,
  outcome varchar not null,
  http_status integer,
  message varchar,
  reason varchar
)
