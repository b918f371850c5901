-- The addresses that an inspection named as leading to the page: one row per inspected page and address.
create table referring_urls (
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null using compression 'fsst',
  inspected_at timestamptz not null,
  referring_url varchar not null using compression 'fsst'
)
