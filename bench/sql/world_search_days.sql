-- Stands in for search analytics. A day is final after three days; some pages have figures on the two days before the night.
create or replace view search_days_of_world as
select
  'w' as website_id,
  's' as snapshot_id,
  getvariable('first_date')::date + day as "date",
  'web' as "type",
  url,
  0 as clicks,
  1 as impressions,
  1.0 as "position",
  getvariable('night') - day as age,
  is_early
from world_shown
