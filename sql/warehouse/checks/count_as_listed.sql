-- level: note
-- The service's own count equals what it listed.
select
  website_id,
  snapshot_id,
  format('the service counted {} pages and listed {}', pages_expected, pages_listed) as problem
from snapshots
where listing_status = 'complete' and pages_expected <> pages_listed
