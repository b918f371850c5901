-- title: Pages in a sitemap that are not indexed
-- description: Monitored pages that are in a sitemap according to their last report and not indexed according to their last listing; longest known first. Without an `index_summary` the search engine has never inspected the page.
-- question: Sitemaps
-- param website (text, default all): id or name of one website
-- param sitemap (text, default all): URL of one sitemap
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show first_seen_at (date): known since
-- show url (url): page
-- show index_coverage_state (text): state
-- show last_crawl_time (date): last crawl
-- show sitemaps (url): sitemaps
select
  website_id,
  url,
  index_summary,
  index_coverage_state,
  report_sitemaps as sitemaps,
  first_seen_at,
  last_crawl_time,
  report_page_fetch_status as page_fetch_status,
  report_fetched_at
from pages
where
  is_monitored
  and is_indexed is not true
  and len(report_sitemaps) > 0
  and ($sitemap::varchar is null or list_contains(report_sitemaps, $sitemap::varchar))
  and is_website(website_id, $website::varchar)
  and is_selected(url, index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
order by first_seen_at, website_id, url
limit $limit::bigint
