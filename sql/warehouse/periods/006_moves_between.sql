-- What the pages were at both ends of a period, and how they moved: one row per page that was known by the end of it. `pairs` is
-- a list of structs with `website_id`, `before_id` and `listing_id`, two complete listings. The columns are those of `index_moves`.
create or replace macro moves_between(pairs) as table
with pair as not materialized (
  select unnest(pairs, recursive := true)
),
moved as (
  select website_id, url, falls, move, made
  from net_moves(pairs)
),
-- What a page was at a time is what its first change of state after it says that it was; without one, what it is now.
later as (
  select
    website_id,
    url,
    arg_min({status: was_status, state: was_index_coverage_state}, snapshot_id) as at_start,
    arg_min({status: was_status, state: was_index_coverage_state}, snapshot_id) filter (snapshot_id > listing_id) as at_end
  from page_versions
  join pair using (website_id)
  where
    snapshot_id > before_id
    and (status is distinct from was_status or index_coverage_state is distinct from was_index_coverage_state)
  group by website_id, url
),
placed as (
  select
    page_state.website_id,
    page_state.url,
    pair.* exclude (website_id),
    move,
    falls,
    made,
    coalesce(at_start, {status: status, state: index_coverage_state}) as start,
    coalesce(at_end, {status: status, state: index_coverage_state}) as ending
  from page_state
  join pair using (website_id)
  left join (from later left join moved using (website_id, url)) as changed using (website_id, url)
  where listed_snapshot_id is not null
)
select
  * exclude (start, ending, made) replace (coalesce(falls, 0) as falls),
  coalesce(start.status = 'indexed', false) as was_indexed,
  ending.status = 'indexed' as is_indexed,
  made.snapshot_id as snapshot_id,
  made.snapshot_date as snapshot_date,
  made.observed_at as observed_at,
  made.is_uncrawled as is_uncrawled,
  start.status as from_status,
  ending.status as end_status,
  state_text(start.status, start.state) as from_state,
  coalesce(made.state, state_text(ending.status, ending.state)) as to_state,
  state_text(ending.status, ending.state) as end_state
from placed
where ending.status is not null
