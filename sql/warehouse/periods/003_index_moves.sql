-- Which pages fell out of the index in a period of dates, and which entered it: one row per known page of each website
-- that `period_listings` compares. A page fell out if it is indexed in the listing before the period and not in its last
-- one, listed there or not, and entered if it is the other way round; a page whose record was quarantined keeps its last
-- state. `move`: `fell_out`, `entered`, `first_inspected` (not inspected before, and indexed), `returned` (fell out and came
-- back), `passed` (came and fell out again), or null.
-- `from_state` and `to_state` are its coverage states in the two listings.
create or replace macro index_moves(since_date, until_date) as table
with pairs as (
  from period_listings(since_date, until_date)
),
moved as (
  from net_moves((select list({website_id: website_id, before_id: before_id, listing_id: listing_id}) from pairs))
),
moved_after as (
  from net_moves((select list({website_id: website_id, before_id: listing_id, listing_id: '~'}) from pairs))
),
-- The first change of a page's coverage state after a listing says what it was there. One that appears has no such change.
restated as (
  select
    website_id,
    url,
    arg_min({state: from_value}, snapshot_id) as at_start,
    arg_min({state: from_value}, snapshot_id) filter (snapshot_id > listing_id) as at_end
  from page_changes
  join pairs using (website_id)
  semi join moved using (website_id, url)
  where change in ('coverage_state', 'appeared', 'first_data') and snapshot_id > before_id
  group by website_id, url
)
select
  pages.website_id,
  pages.url,
  before_id,
  before_date,
  pairs.listing_id,
  listing_date,
  indexed_now - coalesce(moved_after.step, 0) = 1 as is_indexed,
  indexed_now - coalesce(moved_after.step, 0) - coalesce(moved.step, 0) = 1 as was_indexed,
  case moved.step
    when -1 then 'fell_out'
    when 1 then if(moved.first_step.change = 'first_data', 'first_inspected', 'entered')
    when 0 then if(moved.first_step.step = -1, 'returned', 'passed')
  end as move,
  coalesce(moved.falls, 0) as falls,
  moved.first_step.change as first_change,
  moved.last_step.change as last_change,
  -- Of a page that came back, when it fell.
  if(moved.step = 0, moved.last_fall.snapshot_date, moved.last_step.snapshot_date) as snapshot_date,
  if(moved.step = 0, moved.last_fall.observed_at, moved.last_step.observed_at) as observed_at,
  if(at_start is null, index_coverage_state, at_start.state) as from_state,
  case
    when moved.ends_as = 'gone' then 'no longer listed'
    when at_end is null then index_coverage_state
    else at_end.state
  end as to_state
from (select *, (is_indexed is true and is_monitored)::integer as indexed_now from pages) as pages
join pairs using (website_id)
left join moved using (website_id, url)
left join moved_after using (website_id, url)
left join restated using (website_id, url)
