-- The current state of the websites `$websites` (ids), including those without a snapshot.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_at) as website_name,
    max(snapshot_date) as newest_date,
    arg_max(listing_status, snapshot_at) as listing_status
  from snapshots
  where list_contains($websites, website_id)
  group by website_id
),
shown as (
  select
    website_id,
    website_name,
    newest_date,
    listing_status,
    newest_date is not null or website_id in (select website_id from runs) as is_known
  from (select distinct unnest($websites) as website_id)
  left join observed using (website_id)
  order by coalesce(website_name, website_id), website_id
  limit $limit::bigint
  offset $skip::bigint
),
counted as (
  select
    website_id,
    sum(pages) as pages,
    sum(pages) filter (index_summary = 'Indexed') as indexed,
    sum(pages) filter (status = 'not_inspected') as not_inspected
  from coverage_summary
  where snapshot_id in (
    select max(snapshot_id)
    from snapshots
    where listing_status = 'complete' and website_id in (select website_id from shown)
    group by website_id
  )
  group by website_id
)
select
  shown.*,
  if(newest_date is null, null, coalesce(pages, 0))::integer as pages,
  if(newest_date is null, null, coalesce(indexed, 0))::integer as indexed,
  if(is_property(website_id), coalesce(not_inspected, 0), null)::integer as not_inspected
from shown
left join counted using (website_id)
order by coalesce(website_name, website_id), website_id
