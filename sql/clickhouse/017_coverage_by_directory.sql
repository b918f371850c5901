-- How much of each directory is indexed at a date, and what changed since an earlier one, as the analysis of this name
-- answers it: select * from coverage_by_directory(since = '2026-11-01', until = '2026-11-30')
create or replace view coverage_by_directory as
with listings as (
  select
    website_id,
    argMaxIf(snapshots.snapshot_id, snapshot_at, snapshot_date <= {until:Date32}) as snapshot_id,
    argMaxIf(snapshots.snapshot_id, snapshot_at, snapshot_date <= {since:Date32}) as since_id
  from snapshots
  where listing_status = 'complete'
  group by website_id
),
counted as (
  select
    listings.website_id as website_id,
    summary.directory as directory,
    any(listings.since_id) as since_id,
    countIf(summary.snapshot_id = listings.snapshot_id) > 0 as in_now,
    countIf(summary.snapshot_id = listings.since_id) > 0 as in_then,
    sumIf(summary.pages, summary.snapshot_id = listings.snapshot_id) as pages,
    sumIf(summary.pages, summary.snapshot_id = listings.snapshot_id and index_summary = 'Indexed') as indexed,
    sumIf(summary.pages, summary.snapshot_id = listings.snapshot_id and index_summary is null) as without_data,
    sumIf(summary.crawled, summary.snapshot_id = listings.snapshot_id) as crawled,
    sumIf(summary.days_since_crawl_total, summary.snapshot_id = listings.snapshot_id) as days_since_crawl_total,
    sumIf(summary.pages, summary.snapshot_id = listings.since_id) as pages_then,
    sumIf(summary.pages, summary.snapshot_id = listings.since_id and index_summary = 'Indexed') as indexed_then
  from coverage_summary as summary
  join listings on listings.website_id = summary.website_id
  where summary.snapshot_id = listings.snapshot_id or summary.snapshot_id = listings.since_id
  group by website_id, directory
),
-- A directory that only one listing names may be part of the `(other)` of the other listing.
named as (
  select
    * except (directory),
    if(
      (not in_now and max(in_now and counted.directory = '(other)') over by_website)
      or (not in_then and max(in_then and counted.directory = '(other)') over by_website),
      '(other)',
      counted.directory
    ) as directory
  from counted
  window by_website as (partition by website_id)
),
summed as (
  select
    website_id,
    directory,
    any(named.since_id) as since_id,
    coalesce(sum(named.pages), 0) as pages,
    coalesce(sum(named.indexed), 0) as indexed,
    coalesce(sum(named.without_data), 0) as without_data,
    sum(named.days_since_crawl_total) / nullif(sum(named.crawled), 0) as days_since_crawl,
    coalesce(sum(named.pages_then), 0) as pages_then,
    coalesce(sum(named.indexed_then), 0) as indexed_then
  from named
  group by website_id, directory
)
select
  website_id,
  directory,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  floor(indexed / nullif(pages, 0) * 10000 + 0.5) / 10000 as share_indexed,
  floor(summed.days_since_crawl * 10 + 0.5) / 10 as days_since_crawl,
  if(since_id is null, null, pages - pages_then) as pages_change,
  if(since_id is null, null, indexed - indexed_then) as indexed_change
from summed
order by pages desc, website_id, directory
