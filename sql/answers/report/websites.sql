-- The websites of the warehouse up to a date, and the dates of the complete listings that a report compares: the newest,
-- and the newest before `$since` or else the first; null if there is none, or if even the newest is from before the
-- period. View `snapshots`: the markers.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_at) as website_name,
    min(snapshot_date) as first_date
  from snapshots
  where snapshot_date <= $until::date
  group by website_id
),
listed as (
  select
    website_id,
    max(snapshot_date) as now_date,
    coalesce(max(snapshot_date) filter (snapshot_date < $since::date), min(snapshot_date)) as before_date
  from snapshots
  where listing_status = 'complete' and snapshot_date <= $until::date
  group by website_id
)
select
  website_id,
  website_name,
  first_date,
  now_date,
  if(now_date >= $since::date and before_date < now_date, before_date, null) as before_date
from observed
left join listed using (website_id)
order by website_name, website_id
