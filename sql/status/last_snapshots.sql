-- The newest snapshot of each website, and how many there are. View `snapshots`: the markers.
select
  website_id,
  arg_max(website_name, snapshot_id) as website_name,
  count(*)::integer as snapshots,
  max(snapshot_id) as snapshot_id,
  arg_max(run_id, snapshot_id) as run_id,
  strftime(arg_max(snapshot_at, snapshot_id), '%Y-%m-%dT%H:%M:%S.%gZ') as snapshot_at,
  arg_max(snapshot_date, snapshot_id)::varchar as snapshot_date,
  strftime(arg_max(finished_at, snapshot_id), '%Y-%m-%dT%H:%M:%S.%gZ') as finished_at,
  floor(epoch($checked_at::timestamptz) - epoch(arg_max(snapshot_at, snapshot_id)))::integer as age_seconds,
  arg_max(listing_status, snapshot_id) as listing_status,
  arg_max_null(pages_expected, snapshot_id) as pages_expected,
  arg_max(pages_listed, snapshot_id) as pages_listed,
  arg_max(pages_rejected, snapshot_id) as pages_rejected,
  arg_max(reports_status, snapshot_id) as reports_status,
  arg_max(reports_planned, snapshot_id) as reports_planned,
  arg_max(reports_fetched, snapshot_id) as reports_fetched,
  arg_max(reports_missing, snapshot_id) as reports_missing,
  arg_max(reports_failed, snapshot_id) as reports_failed,
  arg_max(reports_rejected, snapshot_id) as reports_rejected
from snapshots
group by website_id
order by website_id
