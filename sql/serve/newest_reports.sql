-- The newest report of each page in a range of URLs that had been fetched by a time, as JSON text with times as the
-- interface writes them, and the last crawl in milliseconds since 1970. View `served_reports`: one row per commit and page.
select
  url,
  epoch_ms(last_crawl_time) as crawled_at,
  json_object(
    'url', url,
    'index_summary', index_summary,
    'index_coverage_state', index_coverage_state,
    'indexing_allowed', indexing_allowed,
    'searchengine_selected_canonical', searchengine_selected_canonical,
    'user_selected_canonical', user_selected_canonical,
    'searchenginebot_primary_crawler', searchenginebot_primary_crawler,
    'last_crawl_time', iso_time(last_crawl_time),
    'days_since_last_crawl', null,
    'page_fetch_status', page_fetch_status,
    'blocked_by_robots_txt', blocked_by_robots_txt,
    'sitemaps', sitemaps,
    'inspection_date', iso_time(inspection_date),
    'page_detection', iso_time(page_detection),
    'inspection_link', inspection_link,
    'service_link', service_link,
    'previously_indexed', previously_indexed,
    'previously_indexed_timestamp', iso_time(previously_indexed_timestamp),
    'previously_indexed_link', previously_indexed_link,
    'canonical_changed', canonical_changed,
    'canonical_changed_searchengine_canonical', canonical_changed_searchengine_canonical,
    'canonical_changed_user_canonical', canonical_changed_user_canonical,
    'canonical_changed_timestamp', iso_time(canonical_changed_timestamp),
    'canonical_changed_link', canonical_changed_link,
    'ever_blocked_by_robots_txt', ever_blocked_by_robots_txt,
    'ever_blocked_by_robots_txt_timestamp', iso_time(ever_blocked_by_robots_txt_timestamp),
    'ever_blocked_by_robots_txt_link', ever_blocked_by_robots_txt_link
  )::varchar as report
from served_reports
where
  url between $from_url::varchar and $to_url::varchar
  and ($until::timestamptz is null or fetched_at <= $until::timestamptz)
qualify row_number() over (partition by url order by fetched_at desc, commit_id desc) = 1
