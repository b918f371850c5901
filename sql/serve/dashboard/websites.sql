-- The websites `$websites` (ids) in their newest complete listing, including those without a snapshot; null if no listing
-- is complete. And how many more pages are indexed than in the newest complete listing that is a week older.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_id) as website_name,
    max(snapshot_id) filter (listing_status = 'complete') as listing_id,
    arg_max(snapshot_date, snapshot_id) filter (listing_status = 'complete') as listed_on,
    arg_max(listing_status, snapshot_id) as listing_status
  from snapshots
  where list_contains($websites, website_id)
  group by website_id
),
week_before as (
  select website_id, max(snapshot_id) as before_id
  from snapshots
  join observed using (website_id)
  where snapshots.listing_status = 'complete' and snapshot_date <= listed_on - 7
  group by website_id
),
counted as (
  select
    snapshot_id,
    sum(pages) as pages,
    coalesce(sum(pages) filter (index_summary = 'Indexed'), 0) as indexed,
    sum(pages) filter (status = 'not_inspected') as not_inspected
  from coverage_summary
  where snapshot_id in (select listing_id from observed union all select before_id from week_before)
  group by snapshot_id
)
select
  website_id,
  website_name,
  listed_on,
  listing_status,
  listing_status is not null or website_id in (select website_id from runs) as is_known,
  if(listing_id is null, null, coalesce(newest.pages, 0))::integer as pages,
  if(listing_id is null, null, coalesce(newest.indexed, 0))::integer as indexed,
  if(is_property(website_id) and listing_id is not null, coalesce(newest.not_inspected, 0), null)::integer
    as not_inspected,
  if(before_id is null, null, coalesce(newest.indexed, 0) - coalesce(week.indexed, 0))::integer as week_change
from (select distinct unnest($websites) as website_id)
left join observed using (website_id)
left join week_before using (website_id)
left join counted as newest on newest.snapshot_id = listing_id
left join counted as week on week.snapshot_id = before_id
