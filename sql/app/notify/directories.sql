-- Indexed pages of each directory in a listing (`$now`) and in the one before it (`$before`). View
-- `coverage_summary`: one row per listing, directory and state.
with counted as (
  select
    website_id,
    directory,
    bool_or(snapshot_id = $now) as in_now,
    bool_or(snapshot_id = $before) as in_before,
    coalesce(sum(pages) filter (index_summary = 'Indexed' and snapshot_id = $now), 0) as indexed_now,
    coalesce(sum(pages) filter (index_summary = 'Indexed' and snapshot_id = $before), 0) as indexed_before
  from coverage_summary
  where snapshot_id in ($now, $before) and website_id = $website
  group by website_id, directory
),
named as (
  select *, shown_directory(website_id, directory, in_now, in_before) as shown_as
  from counted
)
select shown_as as directory, sum(indexed_now)::integer as "now", sum(indexed_before)::integer as before
from named
group by shown_as
order by directory
