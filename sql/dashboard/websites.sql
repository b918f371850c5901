-- The websites of `$websites` (ids) that something was observed of, as they stand now. View `snapshots`: the markers;
-- `page_state`: one row per page.
with observed as (
  select
    website_id,
    arg_max(website_name, snapshot_at) as website_name,
    max(snapshot_date)::varchar as newest_date,
    arg_max(listing_status, snapshot_at) as listing_status
  from snapshots
  where list_contains($websites, website_id)
  group by website_id
),
counted as (
  select
    website_id,
    count(*) as pages,
    count(*) filter (index_summary = 'Indexed') as indexed
  from page_state
  where disappeared_at is null and list_contains($websites, website_id)
  group by website_id
)
select
  website_id,
  website_name,
  newest_date,
  listing_status,
  coalesce(pages, 0)::integer as pages,
  coalesce(indexed, 0)::integer as indexed
from observed
left join counted using (website_id)
order by coalesce(website_name, website_id), website_id
