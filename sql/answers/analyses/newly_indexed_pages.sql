-- title: Pages that entered the index
-- description: The pages that entered, newest first: indexed in the last complete listing of the period, and not in the last one before it. `how` is `indexed`, or `appeared` if the page was indexed when it came into the listing or came back; `returned` means that it was indexed or listed before.
-- question: Is it growing?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show observed_at (date): date
-- show url (url): page
-- show how (text): how
-- show returned (flag): returned
-- show from_state (text): before
-- show index_coverage_state_now (text): state now
-- show is_monitored_now (flag): still listed
with entered as (
  from index_moves($since::date, $until::date)
  where move = 'entered' and is_website(website_id, $website::varchar)
),
left_before as (
  select website_id, url, min(page_changes.observed_at) as first_left_at
  from page_changes
  semi join entered using (website_id, url)
  where change in ('deindexed', 'data_lost', 'disappeared') and from_value = 'Indexed'
  group by website_id, url
)
select
  entered.website_id,
  entered.url,
  entered.last_change as how,
  if(entered.first_change = 'appeared', null, entered.from_state) as from_state,
  entered.observed_at,
  coalesce(first_left_at < entered.observed_at, false) as returned,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now
from entered
left join left_before using (website_id, url)
left join pages using (website_id, url)
where is_selected(entered.url, pages.index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
order by entered.observed_at desc, entered.website_id, entered.url
limit $limit::bigint
