insert into snapshots by name
select
  'w' as website_id,
  printf('%03d', getvariable('night')::integer) as snapshot_id,
  getvariable('first_date')::date + getvariable('night')::integer as snapshot_date,
  moment_of(getvariable('night')::integer) as snapshot_at,
  'complete' as listing_status,
  'google' as source,
  getvariable('evidence')::json as evidence,
  inspection_samples(reason, if(is_indexed, 'Indexed', 'Not Indexed')) as samples
from planned
join world_pages using (url)
