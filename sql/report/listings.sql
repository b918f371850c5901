-- The complete listings that a report compares, per website: the newest up to `$until`, the newest before `$since` and
-- the first of all; of several on a date the last, as in the trend. View `snapshots`: the markers.
with dated as (
  select website_id, snapshot_id, snapshot_date
  from snapshots
  where
    listing_status = 'complete'
    and snapshot_date <= $until::date
    and ($website::varchar is null or website_id = $website::varchar)
  qualify row_number() over (partition by website_id, snapshot_date order by snapshot_at desc, snapshot_id desc) = 1
)
select
  website_id,
  arg_max(snapshot_id, snapshot_date) as now_id,
  max(snapshot_date)::varchar as now_date,
  arg_max(snapshot_id, snapshot_date) filter (snapshot_date < $since::date) as before_id,
  (max(snapshot_date) filter (snapshot_date < $since::date))::varchar as before_date,
  arg_min(snapshot_id, snapshot_date) as first_id,
  min(snapshot_date)::varchar as first_date
from dated
group by website_id
order by website_id
