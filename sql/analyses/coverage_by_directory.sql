-- title: Coverage by directory
-- description: How much of each directory is indexed, by the last complete listing up to a date, and what has changed since the one up to an earlier date. `days_since_crawl` is the mean over crawled pages. `(other)` are all directories together that are not among the 500 largest of both listings, where a listing has more: they cannot be compared one by one.
-- param website (text, default all): id or name of one website
-- param since (date, default 7 days ago): changes are told against the last complete listing up to this date; by default the one before the last seven dates
-- param until (date, default today): the last complete listing up to this date is counted
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and first directory of the URL's path
with listings as (
  select
    website_id,
    arg_max(snapshot_id, snapshot_at) filter (snapshot_date <= $until::date) as snapshot_id,
    arg_max(snapshot_id, snapshot_at) filter (snapshot_date <= $since::date) as since_id
  from snapshots
  where
    listing_status = 'complete'
    and (
      $website::varchar is null
      or website_id in (select website_id from snapshots where $website::varchar in (website_id, website_name))
    )
  group by website_id
),
counted as (
  select
    summary.website_id,
    summary.directory,
    listings.since_id,
    coalesce(summary.snapshot_id = listings.snapshot_id, false) as is_now,
    coalesce(summary.snapshot_id = listings.since_id, false) as is_then,
    summary.index_summary,
    summary.pages,
    summary.crawled,
    summary.days_since_crawl_total
  from snapshot_summary as summary
  join listings on summary.website_id = listings.website_id
  where summary.snapshot_id in (listings.snapshot_id, listings.since_id)
),
-- A directory that only one of both listings has by its name may be among the `(other)` of the other one.
known as (
  select
    website_id,
    directory,
    bool_or(is_now) as in_now,
    bool_or(is_then) as in_then,
    bool_or(directory = '(other)' and in_now) over (partition by website_id) as other_now,
    bool_or(directory = '(other)' and in_then) over (partition by website_id) as other_then
  from counted
  group by website_id, directory
),
summed as (
  select
    counted.website_id,
    if((other_now and not in_now) or (other_then and not in_then), '(other)', counted.directory) as directory,
    since_id,
    coalesce(sum(pages) filter (is_now), 0)::bigint as pages,
    coalesce(sum(pages) filter (is_now and index_summary = 'Indexed'), 0)::bigint as indexed,
    coalesce(sum(pages) filter (is_now and index_summary is null), 0)::bigint as without_data,
    sum(days_since_crawl_total) filter (is_now) / nullif(sum(crawled) filter (is_now), 0) as days_since_crawl,
    coalesce(sum(pages) filter (is_then), 0)::bigint as pages_then,
    coalesce(sum(pages) filter (is_then and index_summary = 'Indexed'), 0)::bigint as indexed_then
  from counted
  join known using (website_id, directory)
  group by all
)
select
  website_id,
  directory,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  round(indexed / nullif(pages, 0), 4) as share_indexed,
  round(days_since_crawl, 1) as days_since_crawl,
  if(since_id is null, null, pages - pages_then) as pages_change,
  if(since_id is null, null, indexed - indexed_then) as indexed_change
from summed
order by pages desc, website_id, directory
limit $limit::bigint
