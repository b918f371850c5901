-- Indexed pages of each directory in a listing (`$now`) and in the one before it (`$before`). Pages that were inspected
-- for the first time would hide a loss, and those that are retired would look like one: neither count. View
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
unchanged as (
  select
    if(directory_of(url) in (select directory from counted), directory_of(url), '(other)') as directory,
    sum(if(move = 'first_inspected', 1, -1)) as not_changed
  from net_moves([{website_id: $website::varchar, before_id: $before::varchar, listing_id: $now::varchar}])
  where move in ('first_inspected', 'retired')
  group by 1
),
named as (
  select * replace (indexed_now - coalesce(not_changed, 0) as indexed_now), shown_directory(website_id, directory, in_now, in_before) as shown_as
  from counted
  left join unchanged using (directory)
)
select shown_as as directory, sum(indexed_now)::integer as "now", sum(indexed_before)::integer as before
from named
group by shown_as
order by directory
