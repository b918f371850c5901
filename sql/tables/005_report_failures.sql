-- Planned reports that gave no row: the page has none (`missing`, 404) or it could not be had (`failed`).
create table report_failures (
  commit_id varchar not null,
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null,
  attempted_at timestamptz not null,
  outcome varchar not null,
  http_status integer,
  message varchar
)
