-- The last complete listing of each website and date, with the one before it. One without a summary whose rows retention
-- removed is left out, because nothing can be counted in it.
create or replace view daily_listings as
select
  website_id,
  website_name,
  snapshot_id,
  snapshot_date,
  snapshot_at,
  lag(snapshot_id) over by_date as before_id,
  lag(snapshot_date) over by_date as before_date,
  lag(snapshot_at) over by_date as before_at
from (
  select *
  from snapshots
  where
    listing_status = 'complete'
    and is_counted(snapshot_id, files)
  qualify row_number() over (partition by website_id, snapshot_date order by snapshot_at desc, snapshot_id desc) = 1
)
window by_date as (partition by website_id order by snapshot_date)
