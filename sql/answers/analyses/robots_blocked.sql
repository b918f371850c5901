-- title: Pages blocked by robots.txt
-- description: Monitored pages that robots.txt blocks now, by their last report or by the state in their last listing, and those that it blocked earlier. `blocked_since` is the first report that says so after one that does not, null without two such reports; `ever_blocked_at` is the time that the service gives.
-- question: Why are pages not indexed?
-- param website (text, default all): id or name of one website
-- param earlier (boolean, default true): also pages that are no longer blocked
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show blocked (text): blocked
-- show blocked_since (date): since
-- show url (url): page
-- show index_coverage_state (text): state
-- show ever_blocked_at (date): ever blocked
-- show report_fetched_at (date): report
with blocked as (
  select
    *,
    coalesce(is_blocked_by_robots_txt, false) or coalesce(index_coverage_state = 'Blocked by robots.txt', false)
      as is_blocked
  from pages
  where
    is_monitored
    and (
      is_blocked
      or ($earlier::boolean and was_ever_blocked_by_robots_txt)
    )
    and is_website(website_id, $website::varchar)
    and is_selected(url, index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
),
last_blocked as (
  select website_id, url, max(observed_at) as observed_at
  from page_changes
  where change = 'robots_blocked'
  group by website_id, url
),
reported as (
  select website_id, url, snapshot_id, ever_blocked_by_robots_txt_timestamp
  from url_reports
  where snapshot_id in (select report_snapshot_id from blocked)
)
select
  blocked.website_id,
  blocked.url,
  if(blocked.is_blocked, 'now', 'earlier') as blocked,
  if(blocked.is_blocked_by_robots_txt, last_blocked.observed_at, null) as blocked_since,
  reported.ever_blocked_by_robots_txt_timestamp as ever_blocked_at,
  blocked.index_summary,
  blocked.index_coverage_state,
  blocked.listed_at,
  blocked.report_fetched_at
from blocked
left join last_blocked using (website_id, url)
left join reported
  on reported.website_id = blocked.website_id
  and reported.url = blocked.url
  and reported.snapshot_id = blocked.report_snapshot_id
order by blocked.is_blocked desc, blocked_since desc nulls last, blocked.website_id, blocked.url
limit $limit::bigint
