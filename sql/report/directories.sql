-- The directories that lost most: indexed pages in the listings before (`$before`) and now (`$now`, both lists of
-- snapshot ids), and how many fell out and came in. View `snapshot_summary`: one row per commit, directory and state;
-- `page_changes`: one row per change.
with counted as (
  select
    website_id,
    directory,
    bool_or(list_contains($now, snapshot_id)) as in_now,
    bool_or(list_contains($before, snapshot_id)) as in_before,
    sum(pages) filter (list_contains($now, snapshot_id)) as pages,
    sum(pages) filter (index_summary = 'Indexed' and list_contains($now, snapshot_id)) as indexed,
    sum(pages) filter (index_summary = 'Indexed' and list_contains($before, snapshot_id)) as indexed_before
  from snapshot_summary
  where list_contains($now, snapshot_id) or list_contains($before, snapshot_id)
  group by website_id, directory
),
others as (
  select website_id
  from counted
  where directory = '(other)'
),
named as (
  select *, shown_directory(website_id, directory, in_now, in_before) as shown_as
  from counted
),
stood as (
  select
    website_id,
    shown_as as directory,
    sum(pages) as pages,
    sum(indexed) as indexed,
    sum(indexed_before) as indexed_before
  from named
  group by website_id, shown_as
),
changed as (
  select distinct website_id, url, change, directory_of(url) as directory
  from page_changes
  where
    change in ('deindexed', 'indexed')
    and ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
),
moved as (
  select
    website_id,
    -- A directory that neither listing names is part of `(other)`, if there is one.
    coalesce(shown_as, if(others.website_id is null, directory, '(other)')) as directory,
    count(*) filter (change = 'deindexed') as deindexed,
    count(*) filter (change = 'indexed') as newly_indexed
  from changed
  left join named using (website_id, directory)
  left join others using (website_id)
  group by all
)
select *
from (
  select
    website_id,
    directory,
    coalesce(stood.pages, 0) as pages,
    coalesce(stood.indexed, 0) as indexed,
    -- A website without an earlier listing has gained nothing.
    if(
      website_id in (select website_id from snapshots where list_contains($before, snapshot_id)),
      coalesce(stood.indexed_before, 0),
      null
    ) as indexed_before,
    coalesce(moved.deindexed, 0) as deindexed,
    coalesce(moved.newly_indexed, 0) as newly_indexed
  from stood
  full join moved using (website_id, directory)
)
-- Directories without a change come last. New pages of a directory do not make up for those that fell out of it.
order by
  deindexed + newly_indexed = 0 and indexed = coalesce(indexed_before, indexed),
  least(indexed - coalesce(indexed_before, indexed), newly_indexed - deindexed),
  deindexed desc,
  website_id,
  directory
limit $limit
