-- The last complete listing of each website and date, with the one before it and the snapshots whose changes lie
-- between the two.
create or replace view daily_listings as
with dated as (
  select website_id, website_name, snapshot_id, snapshot_date, snapshot_at
  from snapshots
  where listing_status = 'complete'
  qualify row_number() over (partition by website_id, snapshot_date order by snapshot_id desc) = 1
),
between_them as (
  select dated.snapshot_id, list(snapshots.snapshot_id order by snapshots.snapshot_id) as snapshot_ids
  from snapshots
  asof join dated on snapshots.website_id = dated.website_id and snapshots.snapshot_id <= dated.snapshot_id
  group by dated.snapshot_id
)
select
  website_id,
  website_name,
  snapshot_id,
  snapshot_date,
  snapshot_at,
  lag(snapshot_id) over by_date as before_id,
  lag(snapshot_date) over by_date as before_date,
  lag(snapshot_at) over by_date as before_at,
  snapshot_ids
from dated
join between_them using (snapshot_id)
window by_date as (partition by website_id order by snapshot_id)
