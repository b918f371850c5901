-- Each entry of the listing as a line: its JSON text before `days_since_last_crawl`, the last crawl in milliseconds since
-- 1970 (or nothing), and its JSON text after it.
create or replace temp view entry_lines as
select
  *,
  concat(
    rtrim(
      if(
        canonicals_match_present,
        json_object(
          'url', url,
          'index_summary', index_summary,
          'index_coverage_state', index_coverage_state,
          'canonicals_match', canonicals_match,
          'searchengine_selected_canonical', searchengine_selected_canonical,
          'user_selected_canonical', user_selected_canonical,
          'last_crawl_time', iso_time(last_crawl_time)
        ),
        json_object(
          'url', url,
          'index_summary', index_summary,
          'index_coverage_state', index_coverage_state,
          'searchengine_selected_canonical', searchengine_selected_canonical,
          'user_selected_canonical', user_selected_canonical,
          'last_crawl_time', iso_time(last_crawl_time)
        )
      )::varchar,
      '}'
    ),
    ',"days_since_last_crawl":',
    chr(9),
    epoch_ms(last_crawl_time),
    chr(9),
    ',',
    ltrim(json_object('inspection_link', inspection_link, 'service_link', service_link)::varchar, '{')
  ) as line
from served_listing
