-- The websites `$websites` (ids) in their newest complete listing, including those without a snapshot; null if no listing
-- is complete.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_at) as website_name,
    max(snapshot_id) filter (listing_status = 'complete') as listing_id,
    max(snapshot_date) filter (listing_status = 'complete') as listed_on,
    arg_max(listing_status, snapshot_at) as listing_status
  from snapshots
  where list_contains($websites, website_id)
  group by website_id
),
shown as (
  select
    website_id,
    website_name,
    listing_id,
    listed_on,
    listing_status,
    listing_status is not null or website_id in (select website_id from runs) as is_known
  from (select distinct unnest($websites) as website_id)
  left join observed using (website_id)
  order by coalesce(website_name, website_id), website_id
  limit $limit::bigint
  offset $skip::bigint
),
counted as (
  select
    snapshot_id as listing_id,
    sum(pages) as pages,
    sum(pages) filter (index_summary = 'Indexed') as indexed,
    sum(pages) filter (status = 'not_inspected') as not_inspected
  from coverage_summary
  where snapshot_id in (select listing_id from shown)
  group by snapshot_id
)
select
  shown.* exclude (listing_id),
  if(listing_id is null, null, coalesce(pages, 0))::integer as pages,
  if(listing_id is null, null, coalesce(indexed, 0))::integer as indexed,
  if(is_property(website_id) and listing_id is not null, coalesce(not_inspected, 0), null)::integer as not_inspected
from shown
left join counted using (listing_id)
order by coalesce(website_name, website_id), website_id
