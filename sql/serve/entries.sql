-- The entries `shown` as the interface writes them, and the last crawl in milliseconds since 1970.
select
  url,
  index_summary,
  index_coverage_state,
  canonicals_match_present,
  canonicals_match,
  searchengine_selected_canonical,
  user_selected_canonical,
  iso_time(last_crawl_time) as last_crawl_time,
  epoch_ms(last_crawl_time) as crawled_at,
  inspection_link,
  service_link
from shown
order by url
