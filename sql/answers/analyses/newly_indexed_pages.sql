-- title: Newly indexed pages
-- description: Pages that entered the index, newest first, and their state now. `how` is `indexed`, or `appeared` if the page was indexed in its first listing; `returned` means that it was indexed or listed before.
-- question: Is it growing?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page and time that it came into the index
-- show website_id (website): website
-- show observed_at (date): date
-- show url (url): page
-- show how (text): how
-- show returned (flag): returned
-- show from_value (text): before
-- show index_coverage_state_now (text): state now
-- show is_monitored_now (flag): still listed
with entered as (
  select website_id, url, change, from_value, from_snapshot_id, observed_at
  from page_changes
  where
    (change = 'indexed' or (change = 'appeared' and to_value = 'Indexed'))
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
left_before as (
  select website_id, url, min(observed_at) as first_left_at
  from page_changes
  semi join entered using (website_id, url)
  where change in ('deindexed', 'data_lost', 'disappeared') and from_value = 'Indexed'
  group by website_id, url
)
select
  entered.website_id,
  entered.url,
  entered.change as how,
  entered.from_value,
  entered.observed_at,
  coalesce(first_left_at < entered.observed_at, false)
    or (entered.change = 'appeared' and entered.from_snapshot_id is not null) as returned,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now
from entered
left join left_before using (website_id, url)
left join pages using (website_id, url)
where is_selected(entered.url, pages.index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
order by entered.observed_at desc, entered.website_id, entered.url
limit $limit::bigint
