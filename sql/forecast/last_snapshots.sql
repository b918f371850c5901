-- What the newest snapshots say of their runs. View `snapshots`: the markers that are needed.
select
  snapshot_id,
  website_id,
  website_name,
  run_id,
  listing_status = 'complete' as is_complete,
  pages_listed,
  requests_sent,
  reports_planned,
  resumed
from snapshots
