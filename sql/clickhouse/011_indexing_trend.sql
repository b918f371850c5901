-- How much of each website is indexed, date by date, as in the analysis of this name.
create or replace view indexing_trend as
with counted as (
  select
    snapshot_id,
    sum(coverage_summary.pages) as pages,
    sumIf(coverage_summary.pages, index_summary = 'Indexed') as indexed,
    sumIf(coverage_summary.pages, index_summary is null) as without_data
  from coverage_summary
  group by snapshot_id
),
dated as (
  select
    website_id,
    website_name,
    snapshot_date,
    toNullable(coalesce(counted.pages, 0)) as pages,
    toNullable(coalesce(counted.indexed, 0)) as indexed,
    coalesce(counted.without_data, 0) as without_data
  from daily_listings
  left join counted on counted.snapshot_id = daily_listings.snapshot_id
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
  pages - lag(pages) over by_date as pages_change,
  indexed - lag(indexed) over by_date as indexed_change
from dated
window by_date as (partition by website_id order by snapshot_date)
order by website_id, snapshot_date
settings join_use_nulls = 1
