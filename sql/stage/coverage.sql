select
  listed_at,
  entry.url as url,
  entry.index_summary as index_summary,
  entry.index_coverage_state as index_coverage_state,
  entry.canonicals_match as canonicals_match,
  entry.searchengine_selected_canonical as searchengine_selected_canonical,
  entry.user_selected_canonical as user_selected_canonical,
  entry.last_crawl_time as last_crawl_time,
  entry.days_since_last_crawl as days_since_last_crawl,
  entry.inspection_link as inspection_link,
  entry.service_link as service_link,
  coalesce(canonicals_match_present, true) as canonicals_match_present,
  extra::json::varchar as extra
from listed_entries
where kind = 'entry'
