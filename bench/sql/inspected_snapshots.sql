insert into snapshots by name
select
  website_id,
  website_id || snapshot_date as snapshot_id,
  snapshot_date,
  snapshot_date::timestamptz as snapshot_at,
  'complete' as listing_status,
  'google' as source
from inspected
where reason is null
