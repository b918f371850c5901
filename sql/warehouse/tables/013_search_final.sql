-- What search showed of the pages of a property on days that no longer change: one row per day, type and page with
-- impressions. A day that Google corrected later is there again. View `search_days` has each day once, and adds the days
-- that may still change.
create table search_final (
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
