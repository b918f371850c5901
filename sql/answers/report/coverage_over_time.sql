-- How many pages were in each of `$places` (website, newline, directory), in all others together (null), and in each
-- coverage state, on `$columns` dates that end with `$until`, `$step` days apart. Each website counts with its last
-- complete listing up to a date; `listed_on` is the newest of these.
with dated as (
  select website_id, $until::date - $step::integer * range::integer as column_date
  from
    (select distinct website_id from daily_listings where $website::varchar is null or website_id = $website::varchar),
    range($columns::bigint)
),
listed as (
  select column_date, snapshot_id, snapshot_date as listed_on
  from dated
  asof join daily_listings on dated.website_id = daily_listings.website_id and column_date >= snapshot_date
),
counted as (
  select
    *,
    state_text(status, index_coverage_state) as state,
    if(list_contains($places, website_id || chr(10) || directory), website_id || chr(10) || directory, null) as place
  from coverage_summary
  join listed using (snapshot_id)
)
select
  column_date,
  max(listed_on) as listed_on,
  grouping(place) = 0 as is_place,
  place,
  coalesce(state, '') as index_coverage_state,
  sum(pages)::bigint as pages,
  coalesce(sum(pages) filter (status = 'not_inspected'), 0)::bigint as not_inspected,
  coalesce(sum(pages) filter (index_summary = 'Indexed'), 0)::bigint as indexed
from counted
group by grouping sets ((column_date, place), (column_date, state))
order by column_date, is_place, place, index_coverage_state
