-- The complete listings that a period of dates compares, one row per website: the last one of the period (`listing_id`),
-- and the last one before it, or else the last one of the first date (`before_id`). A website without two such listings
-- has no row.
create or replace macro period_listings(since_date, until_date) as table
select *
from (
  select
    website_id,
    max(snapshot_id) filter (is_before) as before_id,
    arg_max(snapshot_date, snapshot_id) filter (is_before) as before_date,
    max(snapshot_id) as listing_id,
    arg_max(snapshot_date, snapshot_id) as listing_date
  from (
    select
      website_id,
      snapshot_id,
      snapshot_date,
      snapshot_date < since_date or snapshot_date = min(snapshot_date) over (partition by website_id) as is_before
    from snapshots
    where listing_status = 'complete' and snapshot_date <= until_date
  )
  group by website_id
)
where before_id < listing_id and listing_date >= since_date
