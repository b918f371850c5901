-- title: Pages not crawled recently
-- description: Monitored pages that the search engine has not crawled for this many days before the website's newest snapshot, or never; longest first. Pages of which there is no data are not among them.
-- question: Crawling
-- param days (integer, default 30): days without a crawl, at least
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show last_crawl_time (time): last crawl
-- show days_since_crawl (count): days
-- show url (url): page
-- show index_coverage_state (text): state
-- show first_seen_at (time): known since
select
  website_id,
  url,
  last_known_crawl_time as last_crawl_time,
  days_between(last_known_crawl_time, newest_at) as days_since_crawl,
  first_seen_at,
  index_summary,
  index_coverage_state,
  report_sitemaps as sitemaps
from page_state
join (select distinct website_id, newest_at(website_id) as newest_at from snapshots) using (website_id)
where
  is_listed(status)
  and is_website(website_id, $website::varchar)
  and is_selected(url, state_or_status(status, index_coverage_state), $directory::varchar, $url_contains::varchar, $state::varchar)
  and coalesce(days_since_crawl >= $days::bigint, crawl_span(status, days_since_crawl) = 'never')
order by last_known_crawl_time nulls first, website_id, url
limit $limit::bigint
