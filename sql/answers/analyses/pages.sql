-- title: Pages
-- description: The pages of the newest complete listing, filtered and sorted as in the dashboard's list of pages. For example, `fetch=failed` lists those that could not be fetched, `canonical=differ` those with another canonical than they declare, `changed=entered` those that are newly indexed. In `indexhouse query`, `view` names a view of the configuration, whose filters then apply. `-` selects unknown values.
-- question: Why are pages not indexed?
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param indexed (text, default all): yes, no, gone for pages no longer listed, or - for those without data
-- param canonical (text, default all): match, differ, undeclared or -
-- param crawl (text, default all): the age of the last crawl, such as 2-7 days, over 90 days or never
-- param fetch (text, default all): the page_fetch_status of the last report, or failed for any but Successful
-- param sitemap (text, default all): pages in the sitemap with this URL, any for those in at least one, - for those in none
-- param problem (text, default all): rich_results for pages whose last inspection found errors in their rich results, unconfirmed for those that look as if they fell (is_confirmed)
-- param changed (text, default none): what changed in the period: fell_out, entered, returned, appeared, disappeared, coverage_state, searchengine_canonical, robots_blocked or any
-- param from (date, default none): first date of the change
-- param to (date, default none): last date of the change
-- param own (text, default none): values of the columns of pages_from, such as owner=Anna&template=article; - for pages without one
-- param monitored (text, default none): gone for pages that are no longer listed, all for those, too
-- param sort (text, default url): url, indexed, state, canonical, crawl or report (the age of the report); with - in front, in reverse
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show url (url): page
-- show index_status (text): indexed
-- show index_coverage_state (text): state
-- show searchengine_selected_canonical (url): canonical
-- show last_crawl_time (time): last crawl
-- show report_fetched_at (time): report
select
  website_id,
  url,
  index_status,
  index_summary,
  index_coverage_state,
  canonicals,
  searchengine_selected_canonical,
  user_selected_canonical,
  last_crawl_time::timestamptz as last_crawl_time,
  report_fetched_at::timestamptz as report_fetched_at,
  report_age_days,
  page_fetch_status,
  blocked_by_robots_txt,
  indexing_allowed,
  all_sitemaps as sitemaps,
  directory,
  first_seen_at::timestamptz as first_seen_at,
  problems,
  is_gone
from selected_pages(
  json_object(
    'website', $website,
    'directory', $directory,
    'url_contains', $url_contains,
    'state', $state,
    'indexed', $indexed,
    'canonical', $canonical,
    'crawl', $crawl,
    'fetch', $fetch,
    'sitemap', $sitemap,
    'problem', $problem,
    'changed', $changed,
    'from', $from,
    'to', $to,
    'monitored', $monitored,
    'own', $own::json
  ),
  $sort::varchar
)
order by ascending nulls last, descending desc nulls last, url, website_id
limit $limit::bigint
