-- The newest snapshots of each website, oldest first, each with the complete listing before it and, if partial, the
-- number of partial nights in a row. Views `snapshots`: the markers; `runs`: one row per website and run.
with ordered as (
  select
    *,
    last_value(if(listing_status = 'complete', snapshot_id, null) ignore nulls) over earlier as before_id,
    last_value(if(listing_status = 'complete', snapshot_date, null) ignore nulls) over earlier as before_date,
    count(*) filter (listing_status = 'complete') over earlier as complete_before,
    row_number() over (partition by website_id order by snapshot_id desc) as age
  from snapshots
  window earlier as (
    partition by website_id order by snapshot_id rows between unbounded preceding and 1 preceding
  )
),
counted as (
  select
    *,
    dense_rank() over (partition by website_id, complete_before, listing_status order by snapshot_date) as nights,
    min(snapshot_at) over (partition by website_id, complete_before, listing_status) as nights_since
  from ordered
)
select
  counted.*,
  runs.error,
  if(listing_status = 'partial', nights, 0)::integer as partial_nights,
  nights_since as partial_since
from counted
left join (select website_id, run_id, error from runs) as runs using (website_id, run_id)
where age <= $newest::integer
order by website_id, snapshot_id
