-- The newest report of each of some pages, which are all in one range of URLs, as the interface writes it, and the last crawl
-- in milliseconds since 1970: of those that had been fetched by a time, in milliseconds too.
select
  epoch_ms(last_crawl_time) as crawled_at,
  url,
  index_summary,
  index_coverage_state,
  indexing_allowed,
  searchengine_selected_canonical,
  user_selected_canonical,
  searchenginebot_primary_crawler,
  iso_time(last_crawl_time) as last_crawl_time,
  null::integer as days_since_last_crawl,
  page_fetch_status,
  blocked_by_robots_txt,
  sitemaps,
  iso_time(inspection_date) as inspection_date,
  iso_time(page_detection) as page_detection,
  inspection_link,
  service_link,
  previously_indexed,
  iso_time(previously_indexed_timestamp) as previously_indexed_timestamp,
  previously_indexed_link,
  canonical_changed,
  canonical_changed_searchengine_canonical,
  canonical_changed_user_canonical,
  iso_time(canonical_changed_timestamp) as canonical_changed_timestamp,
  canonical_changed_link,
  ever_blocked_by_robots_txt,
  iso_time(ever_blocked_by_robots_txt_timestamp) as ever_blocked_by_robots_txt_timestamp,
  ever_blocked_by_robots_txt_link
from read_parquet($reports, union_by_name = true, hive_partitioning = false)
where
  url >= $from_url::varchar
  and url < $to_url::varchar
  and url in (select unnest($urls))
  and ($until::bigint is null or epoch_ms(fetched_at) <= $until::bigint)
qualify row_number() over (partition by url order by fetched_at desc, commit_id desc) = 1
