-- What the search brought to a page in the 28 days before a snapshot for which there are figures: one row per page and
-- snapshot in which they changed.
create table page_traffic (
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null using compression 'fsst',
  clicks bigint,
  impressions bigint,
  "position" double
)
