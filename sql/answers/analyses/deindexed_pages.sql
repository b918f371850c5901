-- title: Pages that fell out of the index
-- description: The pages that fell out, newest first, or with Search Console those with the most clicks first. A page fell out in a period if it is indexed in the last complete listing before it, and not in the last one of it, whether that still lists it or not; entered is the reverse. Pages that fell out and came back in the period are not among them: `returned=true` lists those instead. `snapshot_date` is the night that saw the page leave last, `times` how often it left in the period. With Search Console it left between `last_seen_indexed_at`, the inspection before, and that night, and `clicks` are those of 28 days when it was last seen indexed. `why` says what was seen, which need not be the cause: the coverage state in both listings, and what is unusual: by the last report a fetch that failed, robots.txt, or indexing that is not allowed; by the last listing another canonical than the page itself. `moved_to` is the URL that took the page's place: its canonical, another spelling of its URL, or its name in another directory to which at least five pages moved, if that entered at most 30 days before or after.
-- question: What fell out?
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param returned (boolean, default false): the pages that fell out and came back in the period, instead
-- param times (integer, default 1): pages that left the index at least this often in these dates
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show snapshot_date (date): date
-- show last_seen_indexed_at (time): last seen indexed
-- show url (url): page
-- show clicks (count): clicks before
-- show times (count): times
-- show why (text): why
-- show moved_to (url): moved to
with fell as (
  -- Before the join, because a question about each row keeps all columns of what it is asked of.
  select
    *,
    last_seen_indexed(website_id, url, observed_at) as last_seen_indexed_at,
    clicks_before(website_id, url, observed_at) as clicks
  from falls($since::date, $until::date)
  where move = if($returned::boolean, 'returned', 'fell_out') and falls >= $times::bigint and is_website(website_id, $website::varchar)
)
select
  fell.website_id,
  fell.url,
  fell.from_state,
  fell.to_state,
  fell.end_state,
  fell.observed_at,
  fell.snapshot_date,
  last_seen_indexed_at,
  fell.clicks,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  is_listed(pages.status) as is_listed_now,
  fell.falls as times,
  fall_explained(
    fell.from_state,
    fell.to_state,
    fell.observed_at,
    fell.report_fetched_at,
    fell.report_page_fetch_status,
    fell.report_blocked_by_robots_txt = 'Yes',
    fell.report_indexing_allowed = 'Yes',
    fell.url,
    fell.searchengine_selected_canonical,
    fell.user_selected_canonical
  ) as why,
  fell.moved_to
from fell
join page_state as pages using (website_id, url)
where is_selected(fell.url, state_or_status(pages.status, pages.index_coverage_state), $directory::varchar, $url_contains::varchar, $state::varchar)
order by fell.clicks desc nulls last, fell.observed_at desc, fell.website_id, fell.url
limit $limit::bigint
