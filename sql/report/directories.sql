-- Which directories lost most: indexed pages in the listings before (`$before`) and now (`$now`, both lists of snapshot
-- ids), and how many fell out and came in. View `snapshot_summary`: one row per commit, directory and state;
-- `page_changes`: one row per change.
with counted as (
  select
    website_id,
    directory,
    sum(pages) filter (list_contains($now, snapshot_id)) as pages,
    sum(pages) filter (index_summary = 'Indexed' and list_contains($now, snapshot_id)) as indexed,
    sum(pages) filter (index_summary = 'Indexed' and list_contains($before, snapshot_id)) as indexed_before
  from snapshot_summary
  where list_contains($now, snapshot_id) or list_contains($before, snapshot_id)
  group by website_id, directory
),
moved as (
  select
    website_id,
    directory_of(url) as directory,
    count(distinct url) filter (change = 'deindexed') as deindexed,
    count(distinct url) filter (change = 'indexed') as newly_indexed
  from page_changes
  where
    change in ('deindexed', 'indexed')
    and ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
  group by website_id, directory_of(url)
)
select *
from (
  select
    website_id,
    directory,
    coalesce(counted.pages, 0)::integer as pages,
    coalesce(counted.indexed, 0)::integer as indexed,
    -- A website without an earlier listing has won nothing.
    if(
      website_id in (select website_id from snapshots where list_contains($before, snapshot_id)),
      coalesce(counted.indexed_before, 0),
      null
    )::integer as indexed_before,
    coalesce(moved.deindexed, 0)::integer as deindexed,
    coalesce(moved.newly_indexed, 0)::integer as newly_indexed
  from counted
  full join moved using (website_id, directory)
)
order by indexed - coalesce(indexed_before, indexed), deindexed desc, website_id, directory
limit $limit
