-- The newest report of a page among those fetched until a time (milliseconds since 1970). Its times are as the interface
-- writes them; `crawled_at` is the last crawl in milliseconds since 1970.
select
  * replace (
    iso_time(last_crawl_time) as last_crawl_time,
    iso_time(inspection_date) as inspection_date,
    iso_time(page_detection) as page_detection,
    iso_time(previously_indexed_timestamp) as previously_indexed_timestamp,
    iso_time(canonical_changed_timestamp) as canonical_changed_timestamp,
    iso_time(ever_blocked_by_robots_txt_timestamp) as ever_blocked_by_robots_txt_timestamp
  ),
  epoch_ms(last_crawl_time) as crawled_at
from read_parquet($reports, union_by_name = true, hive_partitioning = false)
where url = $url::varchar and ($until::bigint is null or epoch_ms(fetched_at) <= $until::bigint)
order by fetched_at desc, snapshot_id desc
limit 1
