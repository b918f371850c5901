-- title: Fetch problems
-- description: Monitored pages that the search engine could not fetch, by their last report, newest problem first. `since` is the snapshot that saw it begin, null if the first report already had it.
-- question: Why are pages not indexed?
-- param website (text, default all): id or name of one website
-- param status (text, default all): one `page_fetch_status`
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show since (date): since
-- show url (url): page
-- show page_fetch_status (text): fetch
-- show index_coverage_state (text): state
-- show last_crawl_time (date): last crawl
-- show report_fetched_at (date): report
with problems as (
  select *
  from pages
  where
    is_monitored
    and report_page_fetch_status <> 'Successful'
    and ($status::varchar is null or report_page_fetch_status = $status::varchar)
    and is_website(website_id, $website::varchar)
    and is_selected(url, index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
),
began as (
  select website_id, url, max(observed_at) as since
  from page_changes
  where change = 'fetch_status'
  group by website_id, url
)
select
  problems.website_id,
  problems.url,
  problems.report_page_fetch_status as page_fetch_status,
  began.since,
  problems.index_summary,
  problems.index_coverage_state,
  problems.last_crawl_time,
  problems.report_fetched_at
from problems
left join began using (website_id, url)
order by began.since desc nulls last, problems.website_id, problems.url
limit $limit::bigint
