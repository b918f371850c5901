-- The coverage listing: one row per snapshot and page, the ten fields as the service gave them.
create table coverage (
  commit_id varchar not null,
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  listed_at timestamptz not null,
  url varchar not null,
  index_summary varchar,
  index_coverage_state varchar,
  canonicals_match boolean,
  searchengine_selected_canonical varchar,
  user_selected_canonical varchar,
  last_crawl_time timestamptz,
  days_since_last_crawl integer,
  inspection_link varchar,
  service_link varchar,
  canonicals_match_present boolean not null,
  extra json
)
