-- title: Flapping pages
-- description: Pages that entered or left the index several times, most changes first, and their state now. Inspection data that appeared or disappeared does not count.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): first date
-- param until (date, default today): last date
-- param times (integer, default 2): entered or left the index at least this often
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show last_change_at (date): last change
-- show url (url): page
-- show left_index (count): times out
-- show entered_index (count): times in
-- show first_change_at (date): first change
-- show index_coverage_state_now (text): state now
-- show is_monitored_now (flag): still listed
with flapping as (
  select
    website_id,
    url,
    count(*) filter (change = 'deindexed') as left_index,
    count(*) filter (change = 'indexed') as entered_index,
    min(observed_at) as first_change_at,
    max(observed_at) as last_change_at
  from page_changes
  where
    change in ('indexed', 'deindexed')
    and from_value is not null
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
  group by website_id, url
  having greatest(left_index, entered_index) >= $times::bigint
)
select
  flapping.*,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now
from flapping
left join pages using (website_id, url)
where is_selected(flapping.url, pages.index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
order by left_index + entered_index desc, last_change_at desc, website_id, url
limit $limit::bigint
