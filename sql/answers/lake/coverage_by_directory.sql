-- How much of each directory is indexed by the newest complete listing, and what changed since the last one before the newest seven dates.
with period as (select max(snapshot_date) - interval 6 day as since, max(snapshot_date) as until from snapshots),
listings as (
  select
    website_id as listed_website,
    max(case when snapshot_date <= until then snapshot_at end) as now_at,
    max(case when snapshot_date < since then snapshot_at end) as then_at
  from snapshots
  cross join period
  where listing_status = 'complete'
  group by website_id
),
listed as (
  select
    website_id,
    directory,
    then_at,
    index_summary,
    canonicals_match,
    case when snapshot_at = now_at then pages else 0 end as pages_now,
    case when snapshot_at = then_at then pages else 0 end as pages_then
  from coverage_summary
  join listings on listings.listed_website = coverage_summary.website_id
  where snapshot_at = now_at or snapshot_at = then_at
),
counted as (
  select website_id, directory, sum(pages_now) as all_now, sum(pages_then) as all_then
  from listed
  group by website_id, directory
),
-- A directory that only one listing names may be part of the `(other)` of the other listing.
names as (
  select
    website_id as named_website,
    directory as listed_directory,
    case
      when all_now = 0 and max(case when directory = '(other)' then all_now else 0 end) over by_website > 0 then '(other)'
      when all_then = 0 and max(case when directory = '(other)' then all_then else 0 end) over by_website > 0 then '(other)'
      else directory
    end as shown_directory
  from counted
  window by_website as (partition by website_id)
),
summed as (
  select
    website_id,
    shown_directory,
    max(then_at) as compared_at,
    sum(pages_now) as pages,
    sum(case when index_summary = 'Indexed' then pages_now else 0 end) as indexed,
    sum(case when index_summary is null then pages_now else 0 end) as without_data,
    sum(case when canonicals_match then pages_now else 0 end) as matching,
    sum(case when not canonicals_match then pages_now else 0 end) as differing,
    sum(pages_then) as all_then,
    sum(case when index_summary = 'Indexed' then pages_then else 0 end) as indexed_then
  from listed
  join names on names.named_website = listed.website_id and names.listed_directory = listed.directory
  group by website_id, shown_directory
)
select
  website_id,
  shown_directory as directory,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  floor(indexed / nullif(pages, 0) * 10000 + 0.5) / 10000 as share_indexed,
  matching as canonicals_match,
  differing as canonicals_differ,
  case when compared_at is not null then pages - all_then end as pages_change,
  case when compared_at is not null then indexed - indexed_then end as indexed_change
from summed
order by pages desc, website_id, directory
