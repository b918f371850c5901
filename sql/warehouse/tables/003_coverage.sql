-- The coverage listing: one row per snapshot and page, with the ten fields as the service sent them.
create table coverage (
  -- The compression of texts is fixed, because trying every method takes a quarter of the time to write them.
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  listed_at timestamptz not null,
  url varchar not null using compression 'fsst',
  index_summary varchar using compression 'dictionary',
  index_coverage_state varchar using compression 'dictionary',
  canonicals_match boolean,
  searchengine_selected_canonical varchar using compression 'fsst',
  user_selected_canonical varchar using compression 'fsst',
  last_crawl_time timestamptz,
  days_since_last_crawl integer,
  inspection_link varchar using compression 'fsst',
  service_link varchar using compression 'fsst',
  canonicals_match_present boolean not null,
  extra json,
  -- Of a website of Search Console: when the page was last inspected, which is when its state was as it says.
  inspected_at timestamptz,
  -- When and by which sitemaps or search analytics it was last named; null for a service, which names what it lists.
  last_named_at timestamptz,
  named_by varchar[],
  -- How its address is written when Search Console inspects it; null: as `url`.
  spelling varchar using compression 'fsst'
)
