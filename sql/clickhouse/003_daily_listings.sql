-- The last complete listing of each website and date, with the one before it and the snapshots whose changes lie
-- between the two. A listing without a summary in `coverage_summary` is left out, because nothing in it can be counted.
create or replace view daily_listings as
with dated as (
  select website_id, website_name, snapshot_id, snapshot_date, snapshot_at
  from snapshots
  where
    listing_status = 'complete'
    and (JSONHas(coalesce(files, ''), 'coverage_summary') or not JSONHas(coalesce(files, ''), 'coverage'))
  qualify row_number() over (partition by website_id, snapshot_date order by snapshot_at desc, snapshot_id desc) = 1
),
between_them as (
  select
    dated.snapshot_id as snapshot_id,
    arrayMap(one -> one.2, arraySort(groupArray((snapshots.snapshot_at, snapshots.snapshot_id)))) as snapshot_ids
  from snapshots
  asof join dated on snapshots.website_id = dated.website_id and snapshots.snapshot_at <= dated.snapshot_at
  group by dated.snapshot_id
)
select
  dated.website_id as website_id,
  dated.website_name as website_name,
  dated.snapshot_id as snapshot_id,
  dated.snapshot_date as snapshot_date,
  dated.snapshot_at as snapshot_at,
  lag(toNullable(dated.snapshot_id)) over by_date as before_id,
  lag(toNullable(dated.snapshot_date)) over by_date as before_date,
  lag(toNullable(dated.snapshot_at)) over by_date as before_at,
  snapshot_ids
from dated
join between_them on between_them.snapshot_id = dated.snapshot_id
window by_date as (partition by dated.website_id order by dated.snapshot_date)
