-- The websites of the warehouse up to a date, and the dates of the complete listings that a report compares: the
-- newest, and the one of `period_listings`; null if there is none, or if even the newest is from before the period.
select
  website_id,
  arg_max(website_name, snapshot_id) as website_name,
  min(snapshot_date) as first_date,
  arg_max(snapshot_date, snapshot_id) filter (listing_status = 'complete') as now_date,
  any_value(before_date) as before_date,
  is_property(website_id) as by_inspection
from snapshots
left join period_listings($since::date, $until::date) using (website_id)
where snapshot_date <= $until::date
group by website_id
order by website_name, website_id
