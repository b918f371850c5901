-- The history of every page: one row for each commit that shows a change of it, with what is known of the page from then
-- on. `changes` lists what changed, `change_details` from what to what; both are empty where nothing was known before. They
-- are two lists, because most questions need only the kinds. The views `page_history` and `page_changes` read this table.
create table page_versions (
  -- The compression of texts is fixed, because trying every method takes a third of the time to write them.
  snapshot_id varchar not null using compression 'dictionary',
  website_id varchar not null using compression 'dictionary',
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  url varchar not null using compression 'fsst',
  status varchar not null using compression 'dictionary',
  was_status varchar using compression 'dictionary',
  was_index_coverage_state varchar using compression 'dictionary',
  -- When the listing was fetched that says so; when the snapshot began, if it is not listed.
  observed_at timestamptz not null,
  index_summary varchar using compression 'dictionary',
  index_coverage_state varchar using compression 'dictionary',
  canonicals_match boolean,
  searchengine_selected_canonical varchar using compression 'fsst',
  user_selected_canonical varchar using compression 'fsst',
  last_crawl_time timestamptz,
  -- The newest that is known, from a listing or a report, however much of that was lost since.
  last_known_crawl_time timestamptz,
  report_fetched_at timestamptz,
  report_index_summary varchar using compression 'dictionary',
  report_index_coverage_state varchar using compression 'dictionary',
  report_indexing_allowed varchar using compression 'dictionary',
  report_searchenginebot_primary_crawler varchar using compression 'dictionary',
  report_last_crawl_time timestamptz,
  report_page_fetch_status varchar using compression 'dictionary',
  report_blocked_by_robots_txt varchar using compression 'dictionary',
  report_sitemaps varchar[],
  changes varchar[] not null,
  change_details struct(
    from_value varchar,
    to_value varchar,
    from_snapshot_id varchar,
    observed_at timestamptz
  )[] not null
)
