-- Commits of many websites on some nights, in the order of their files.
create or replace temp table many_nights as
select
  printf('site-%03d', website) as website,
  date '2024-01-01' + night::integer as date,
  date::timestamptz + interval 2 hour + website * interval 1 second as began_at,
  lower(lpad(to_hex(epoch_ms(began_at)), 12, '0')) as moment,
  printf('%s-%s-7000-8000-000000000000', moment[1:8], moment[9:12]) as run_id,
  printf('%s-%s-7000-8000-000000000001', moment[1:8], moment[9:12]) as snapshot_id
from range(getvariable('websites')::bigint) as websites (website),
  range(getvariable('first')::bigint, getvariable('until')::bigint) as nights (night)
order by website, date
