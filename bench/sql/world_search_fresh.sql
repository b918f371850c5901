-- Stands in for the search analytics of the two days before the night.
create or replace view search_fresh as
select
  'w' as website_id,
  's' as snapshot_id,
  getvariable('first_date')::date + day as "date",
  'web' as "type",
  url,
  0 as clicks,
  1 as impressions,
  1.0 as "position"
from world_shown
where is_early and day between getvariable('night') - 2 and getvariable('night') - 1
