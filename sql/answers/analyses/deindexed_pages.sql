-- title: De-indexed pages
-- description: Pages that fell out of the index, newest first, and their state now. Dates are those of the snapshots that saw it; `times` says how often the page fell out in the period, and pages that keep coming and going are found with `times=2` and `reindexed=true`. `why` says what was seen when it fell, which need not be the cause: the coverage state before and after, and what is unusual: by the last report a fetch that failed, robots.txt, or indexing that is not allowed; by the last listing another canonical than the page itself.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- param reindexed (boolean, default false): also pages that are indexed again now
-- param times (integer, default 1): pages that fell out at least this often in these dates
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page and time that it fell out of the index
-- show website_id (website): website
-- show snapshot_date (date): date
-- show url (url): page
-- show times (count): times
-- show why (text): why
select
  dropped.website_id,
  dropped.url,
  dropped.from_value,
  dropped.to_value,
  dropped.observed_at,
  dropped.snapshot_date,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now,
  count(*) over (partition by dropped.website_id, dropped.url) as times,
  -- If the coverage state stayed the same, only the summary changed.
  fall_explained(
    if(moved.url is null, dropped.from_value, moved.from_value),
    if(moved.url is null, dropped.to_value, moved.to_value),
    dropped.observed_at,
    pages.report_fetched_at,
    pages.report_page_fetch_status,
    pages.is_blocked_by_robots_txt,
    pages.is_indexing_allowed,
    dropped.url,
    pages.searchengine_selected_canonical,
    pages.user_selected_canonical
  ) as why
from page_changes as dropped
left join pages on pages.website_id = dropped.website_id and pages.url = dropped.url
left join page_changes as moved
  on moved.commit_id = dropped.commit_id
  and moved.website_id = dropped.website_id
  and moved.url = dropped.url
  and moved.change = 'coverage_state'
  and moved.snapshot_date between $since::date and $until::date
where
  dropped.change = 'deindexed'
  and dropped.snapshot_date between $since::date and $until::date
  and ($reindexed::boolean or pages.is_indexed is not true)
  and is_website(dropped.website_id, $website::varchar)
  and is_selected(dropped.url, pages.index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
qualify times >= $times::bigint
order by dropped.observed_at desc, dropped.website_id, dropped.url
limit $limit::bigint
