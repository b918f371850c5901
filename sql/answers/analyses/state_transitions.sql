-- title: State transitions
-- description: How many pages changed from which coverage state to which, and how many of them are still in it at the end of the period. Null means no inspection data. `share_per_night` is the share of the pages in the state before that changed so in a night, over the nights with a complete listing.
-- question: What changed?
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- grain: one row per website, state before and state after
-- show from_state (text): before
-- show to_state (text): after
-- show pages (count): pages
-- show still (count): still there
-- show changes (count): changes
-- show share_per_night (share): of the state, a night
-- show last_observed_at (time): last
with changed as (
  from page_changes
  where
    change = 'coverage_state'
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
ending as (
  select website_id, url, arg_max({is_listed: is_listed(status), state: index_coverage_state}, snapshot_id) as ending
  from page_versions
  semi join changed using (website_id, url)
  where snapshot_date between $since::date and $until::date
  group by website_id, url
),
stood as (
  -- How many pages were in a state when a night began, summed over the nights.
  select listings.website_id, index_coverage_state as from_value, sum(pages) as page_nights
  from daily_listings as listings
  join coverage_summary as summary on summary.snapshot_id = listings.before_id
  where listings.snapshot_date between $since::date and $until::date
  group by listings.website_id, index_coverage_state
)
select
  changed.website_id,
  changed.from_value as from_state,
  to_value as to_state,
  count(distinct url) as pages,
  count(distinct url) filter (ending = {is_listed: true, state: to_value}) as still,
  count(*) as changes,
  round(count(*) / any_value(page_nights), 6) as share_per_night,
  max(observed_at) as last_observed_at
from changed
join ending using (website_id, url)
left join stood on stood.website_id = changed.website_id and stood.from_value is not distinct from changed.from_value
group by changed.website_id, changed.from_value, to_value
order by changes desc, changed.website_id, from_state, to_state
