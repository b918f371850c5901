-- The websites of the warehouse up to a date, and the complete listings that a report compares: the newest (`now_*`),
-- and the newest before `$since` or else the first (`before_*`); null if there is none, or if even the newest is from
-- before the period. The last listing of a date counts, as in the trend. View `snapshots`: the markers.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_at) as website_name,
    min(snapshot_date) as first_date
  from snapshots
  where snapshot_date <= $until::date
  group by website_id
),
dated as (
  select website_id, snapshot_id, snapshot_date
  from snapshots
  where listing_status = 'complete' and snapshot_date <= $until::date
  qualify row_number() over (partition by website_id, snapshot_date order by snapshot_at desc, snapshot_id desc) = 1
),
newest as (
  select
    website_id,
    arg_max(snapshot_id, snapshot_date) as now_id,
    max(snapshot_date) as now_date,
    coalesce(max(snapshot_date) filter (snapshot_date < $since::date), min(snapshot_date)) as before_date
  from dated
  group by website_id
)
select
  website_id,
  website_name,
  first_date,
  now_id,
  now_date,
  dated.snapshot_id as before_id,
  dated.snapshot_date as before_date
from observed
left join newest using (website_id)
left join dated
  on dated.website_id = observed.website_id
  and dated.snapshot_date = newest.before_date
  and newest.now_date >= $since::date
  and dated.snapshot_date < newest.now_date
order by website_name, website_id
