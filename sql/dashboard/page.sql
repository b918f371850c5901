-- What is known of one page now. View `page_state`: one row per page.
select
  url,
  iso_time(first_seen_at) as first_seen_at,
  iso_time(last_seen_at) as last_seen_at,
  iso_time(listed_at) as listed_at,
  index_summary,
  index_coverage_state,
  canonicals_match,
  searchengine_selected_canonical,
  iso_time(last_crawl_time) as last_crawl_time,
  user_selected_canonical,
  report_snapshot_id,
  iso_time(report_fetched_at) as report_fetched_at,
  absences,
  consecutive_failures,
  iso_time(last_failure_at) as last_failure_at,
  iso_time(disappeared_at) as disappeared_at
from page_state
where website_id = $website::varchar and url = $url::varchar
