-- Stands in for the search analytics that are final after three days.
create or replace view search_final as
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
where day between getvariable('night') - 100 and getvariable('night') - 3
