-- What search showed of the pages of a property on days that could still change when they were fetched: each snapshot has
-- them again, so only those of the newest one count. Columns of `search_final`.
create table search_fresh (
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  "date" date not null,
  "type" varchar not null using compression 'dictionary',
  url varchar not null using compression 'fsst',
  clicks bigint not null,
  impressions bigint not null,
  "position" double
)
