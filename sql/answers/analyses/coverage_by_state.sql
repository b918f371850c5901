-- title: Coverage by state
-- description: How many pages are in each coverage state, by the last complete listing up to a date, and what changed since the last one before the period: the reasons why pages are not indexed come first, then pages without a state, as `no data`, `data lost` or `not inspected`, then the indexed ones. The counts add up to the listing. `trend` holds the count of each date with a complete listing in the last weeks, oldest first, and `sparkline` draws it. States without a page on any of these dates have no row. Of a website of Search Console, `pages_change` is null as long as pages were not inspected before the period: what is inspected for the first time is no change.
-- question: Why are pages not indexed?
-- param since (date, default 6 days ago): first date; changes are counted against the last complete listing before it
-- param until (date, default today): last date; its last complete listing is counted
-- param weeks (integer, default 4): weeks up to `until` that the trend covers
-- grain: one row per website, index_summary and coverage state
-- show index_coverage_state (text): state
-- show pages (count): pages
-- show share (share): of all pages
-- show pages_change (change): change
-- show sparkline (text): trend
with nights as (
  select
    website_id,
    snapshot_id,
    snapshot_date,
    snapshot_date > $until::date - 7 * $weeks::integer as in_trend,
    snapshot_id = max(snapshot_id) over (partition by website_id) as is_now,
    snapshot_id is not distinct from period.before_id as is_then,
    period.before_id is null
      or is_property(website_id)
      and period.before_id in (select snapshot_id from coverage_summary where index_summary is null) as is_incomparable
  from daily_listings
  left join period_listings($since::date, $until::date) as period using (website_id)
  where snapshot_date <= $until::date and is_website(website_id, $website::varchar)
  qualify in_trend or is_now or is_then
),
counted as (
  select snapshot_id, index_summary, state_text(status, index_coverage_state) as index_coverage_state, sum(pages)::bigint as pages
  from coverage_summary
  where snapshot_id in (select snapshot_id from nights)
  group by snapshot_id, index_summary, state_text(status, index_coverage_state)
),
states as (
  select distinct website_id, index_summary, index_coverage_state
  from counted
  join nights using (snapshot_id)
),
-- One row per state and night, because a listing has no row for a state without pages.
by_night as (
  select states.*, nights.* exclude (website_id), coalesce(counted.pages, 0) as pages
  from states
  join nights using (website_id)
  left join counted
    on counted.snapshot_id = nights.snapshot_id
    and counted.index_summary is not distinct from states.index_summary
    and counted.index_coverage_state = states.index_coverage_state
),
by_state as (
  select
    website_id,
    index_summary,
    index_coverage_state,
    sum(pages) filter (is_now)::bigint as pages,
    if(bool_or(is_incomparable), null, sum(pages) filter (is_now) - sum(pages) filter (is_then))::bigint as pages_change,
    list(pages order by snapshot_date) filter (in_trend) as trend
  from by_night
  group by website_id, index_summary, index_coverage_state
)
select
  website_id,
  index_summary,
  index_coverage_state,
  pages,
  round(pages / nullif(sum(pages) over (partition by website_id), 0), 4) as share,
  pages_change,
  trend,
  sparkline(trend) as sparkline
from by_state
order by
  website_id,
  case when index_summary is null then 1 when index_summary = 'Indexed' then 2 else 0 end,
  pages desc,
  index_coverage_state,
  index_summary
