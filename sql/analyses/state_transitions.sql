-- title: State transitions
-- description: How many pages changed from which coverage state to which. Null means no inspection data. `share_of_from` is the share among all changes from that state.
-- question: What changed?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- grain: one row per website, state before and state after
-- show website_id (website): website
-- show from_state (text): before
-- show to_state (text): after
-- show pages (count): pages
-- show changes (count): changes
-- show share_of_from (share): of all from before
-- show last_observed_at (date): last
select
  website_id,
  from_value as from_state,
  to_value as to_state,
  count(distinct url) as pages,
  count(*) as changes,
  round(count(*) / sum(count(*)) over (partition by website_id, from_value), 4) as share_of_from,
  max(observed_at) as last_observed_at
from page_changes
where
  change = 'coverage_state'
  and snapshot_date between $since::date and $until::date
  and is_website(website_id, $website::varchar)
group by website_id, from_value, to_value
order by changes desc, website_id, from_state, to_state
