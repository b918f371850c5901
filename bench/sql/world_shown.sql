-- The pages that search shows on each night from one on. `is_early`: that is known while the day may still change.
insert into world_shown
select url, day, unit(page, day, 10) < 0.7
from world_pages
cross join (select unnest(range(getvariable('since')::bigint, getvariable('night')::bigint + 1))::integer as day)
where is_indexed and born_on <= getvariable('night') and unit(page, day, 9) < chance
