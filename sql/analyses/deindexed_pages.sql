-- title: De-indexed pages
-- description: Pages that fell out of the index, newest first, and their state now. Dates are those of the snapshots that saw it.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- param reindexed (boolean, default false): also pages that are indexed again now
-- param limit (integer, default none): at most this many rows
-- grain: one row per page and time that it fell out of the index
-- show website_id (website): website
-- show snapshot_date (date): date
-- show url (url): page
-- show from_value (text): before
-- show to_value (text): after
-- show index_coverage_state_now (text): state now
-- show is_monitored_now (flag): still listed
select
  dropped.website_id,
  dropped.url,
  dropped.from_value,
  dropped.to_value,
  dropped.observed_at,
  dropped.snapshot_date,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now
from page_changes as dropped
left join pages on pages.website_id = dropped.website_id and pages.url = dropped.url
where
  dropped.change = 'deindexed'
  and dropped.snapshot_date between $since::date and $until::date
  and ($reindexed::boolean or pages.is_indexed is not true)
  and is_website(dropped.website_id, $website::varchar)
order by dropped.observed_at desc, dropped.website_id, dropped.url
limit $limit::bigint
