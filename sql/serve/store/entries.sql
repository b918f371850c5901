-- A window of the entries of `listed`, by position, as the interface writes them, and the last crawl in milliseconds
-- since 1970. They are one JSON list, because reading one long text takes a tenth of the time of many short ones.
select coalesce(to_json(list(entry order by entry.url)), '[]')::varchar as entries
from (
  select {
    url: url,
    index_summary: index_summary,
    index_coverage_state: index_coverage_state,
    canonicals_match: canonicals_match,
    searchengine_selected_canonical: searchengine_selected_canonical,
    user_selected_canonical: user_selected_canonical,
    last_crawl_time: iso_time(last_crawl_time),
    days_since_last_crawl: null,
    inspection_link: inspection_link,
    service_link: service_link,
    canonicals_match_present: canonicals_match_present,
    crawled_at: epoch_ms(last_crawl_time)
  } as entry
  from listed
  order by url
  limit $limit::bigint
  offset $skip::bigint
)
