-- How much of each website is indexed, date by date: the last complete listing of each date.
with dated as (
  select website_id as dated_website, snapshot_date as dated_on, max(snapshot_at) as listed_at
  from snapshots
  where listing_status = 'complete'
  group by website_id, snapshot_date
),
listings as (
  select snapshot_id, website_id, website_name, snapshot_date
  from snapshots
  join dated on dated.dated_website = snapshots.website_id and dated.listed_at = snapshots.snapshot_at
),
counted as (
  select
    snapshot_id as counted_id,
    sum(pages) as all_pages,
    sum(case when index_summary = 'Indexed' then pages else 0 end) as indexed_pages,
    sum(case when index_summary is null then pages else 0 end) as unknown_pages
  from coverage_summary
  group by snapshot_id
),
-- A listing without pages has no rows in coverage_summary.
complete as (
  select
    website_id,
    website_name,
    snapshot_date,
    case when all_pages is null then 0 else all_pages end as pages,
    case when all_pages is null then 0 else indexed_pages end as indexed,
    case when all_pages is null then 0 else unknown_pages end as without_data
  from listings
  left join counted on counted.counted_id = listings.snapshot_id
)
select
  website_id,
  website_name,
  snapshot_date,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  floor(indexed / nullif(pages, 0) * 10000 + 0.5) / 10000 as share_indexed,
  pages - lag(pages) over (partition by website_id order by snapshot_date) as pages_change,
  indexed - lag(indexed) over (partition by website_id order by snapshot_date) as indexed_change
from complete
order by website_id, snapshot_date
