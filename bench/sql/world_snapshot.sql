insert into snapshots by name
select
  'w' as website_id,
  printf('%03d', getvariable('night')::integer) as snapshot_id,
  getvariable('first_date')::date + getvariable('night')::integer as snapshot_date,
  moment_of(getvariable('night')::integer) as snapshot_at,
  'complete' as listing_status,
  'google' as source,
  getvariable('evidence')::json as evidence,
  inspection_samples(counts_as, reason, draw, place, if(is_indexed, 'indexed', 'not indexed')) as samples
from (
  select planned.*, is_indexed, row_number() over (partition by counts_as is null order by draw) as place
  from planned
  join world_now using (url)
)
