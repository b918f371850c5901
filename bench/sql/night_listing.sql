-- The coverage listing of the night in the fields of the interface.
create or replace temp view night_listing as
select
  page as position,
  page // 1000 as "window",
  listed_at,
  url,
  if(index_summary is null, false, null) as canonicals_match_present,
  {
    url: url,
    index_summary: index_summary,
    index_coverage_state: index_coverage_state,
    canonicals_match: searchengine_selected_canonical = user_selected_canonical,
    searchengine_selected_canonical: searchengine_selected_canonical,
    user_selected_canonical: user_selected_canonical,
    last_crawl_time: last_crawl_time,
    days_since_last_crawl: days_since_last_crawl,
    inspection_link: if(index_summary is null, null, inspection_link || 'latest'),
    service_link: service_link
  } as entry
from night_pages
