-- The last complete listing of each website and date: one row per website, date and page.
create or replace view coverage_daily as
select coverage.*
from coverage
where snapshot_id in (
  select max(snapshot_id)
  from snapshots
  where listing_status = 'complete'
  group by website_id, snapshot_date
)
