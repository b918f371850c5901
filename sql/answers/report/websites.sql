-- The websites of the warehouse up to a date, and the dates of the complete listings that a report compares: the
-- newest, and the one of `period_listings`; null if there is none, or if even the newest is from before the period.
select
  website_id,
  arg_max(website_name, snapshot_id) as website_name,
  min(snapshot_date) as first_date,
  arg_max(snapshot_date, snapshot_id) filter (listing_status = 'complete') as now_date,
  any_value(before_date) as before_date,
  is_property(website_id) as by_inspection,
  -- Those of now.
  if(max(snapshot_id) = any_value(newest_id), coalesce(any_value(unconfirmed), 0), 0)::integer as unconfirmed,
  if(max(snapshot_id) = any_value(newest_id), coalesce(any_value(rich_results_failed), 0), 0)::integer as rich_results_failed
from snapshots
left join period_listings($since::date, $until::date) using (website_id)
left join (
  select
    website_id,
    count_if(not is_confirmed) as unconfirmed,
    count_if(report_rich_results_verdict = 'FAIL') as rich_results_failed
  from page_state
  where is_listed(status)
  group by website_id
) using (website_id)
join (select website_id, max(snapshot_id) as newest_id from snapshots group by website_id) using (website_id)
where snapshot_date <= $until::date
group by website_id
order by website_name, website_id
