-- Stands in for the days of search analytics that are known.
create or replace view search_fetches as
select
  'w' as website_id,
  's' as snapshot_id,
  getvariable('first_date')::date + day as "date",
  'web' as "type",
  day <= getvariable('night') - 3 as is_final,
  false as is_cut,
  1 as pages,
  0 as clicks,
  1 as impressions,
  now() as fetched_at,
  null::varchar as unknown
from (select unnest(range(getvariable('night')::bigint - 100, getvariable('night')::bigint))::integer as day)
