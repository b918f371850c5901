-- One page's report of one snapshot, the newest of several. View `url_reports`: one row per report.
select
  iso_time(fetched_at) as fetched_at,
  reason,
  index_summary,
  index_coverage_state,
  indexing_allowed,
  searchengine_selected_canonical,
  user_selected_canonical,
  searchenginebot_primary_crawler,
  iso_time(last_crawl_time) as last_crawl_time,
  page_fetch_status,
  blocked_by_robots_txt,
  to_json(sitemaps[:20])::varchar as sitemaps,
  iso_time(inspection_date) as inspection_date,
  iso_time(page_detection) as page_detection,
  inspection_link,
  service_link,
  previously_indexed,
  iso_time(previously_indexed_timestamp) as previously_indexed_timestamp,
  canonical_changed,
  iso_time(canonical_changed_timestamp) as canonical_changed_timestamp,
  ever_blocked_by_robots_txt,
  iso_time(ever_blocked_by_robots_txt_timestamp) as ever_blocked_by_robots_txt_timestamp
from url_reports
where
  website_id = $website::varchar
  and snapshot_id = $snapshot::varchar
  and url = $url::varchar
order by fetched_at desc, commit_id desc
limit 1
