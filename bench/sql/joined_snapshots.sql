-- A complete listing for each night of each website.
insert into snapshots by name
select
  website_id,
  website_id as website_name,
  printf('%s-%03d', website_id, night) as snapshot_id,
  getvariable('first_date')::date + night::integer as snapshot_date,
  snapshot_date + interval 2 hour as snapshot_at,
  'complete' as listing_status
from (select website_id, unnest(range(max(listed_from + len(states)))) as night from joined_pages group by website_id)
