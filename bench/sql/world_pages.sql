-- The pages of a simulated website: whether each is indexed on the night before the first, the share of its section that
-- should be, whether its section is edited often, and the chance that search shows it on a day.
create or replace table world_pages as
select
  'https://w.example/' || page as url,
  page,
  unit(section, 1, 1) as share,
  unit(section, 1, 2) < 0.3 as is_lively,
  section < 8 as is_hit,
  unit(page, 0, 3) < unit(section, 1, 1) as is_indexed,
  is_indexed as was_indexed,
  -- How many impressions a day has is lognormal.
  if(
    unit(page, 0, 4) < getvariable('traffic'),
    1 - exp(-exp(2 * sqrt(-2 * ln(1 - unit(page, 0, 5))) * cos(2 * pi() * unit(page, 0, 6)))),
    0
  ) as chance,
  null::integer as fell_on,
  null::integer as modified_on,
  null::integer as inspected_on,
  null::boolean as found,
  false as is_wanted
from (select range as page, hash(range, getvariable('seed')) % 40 as section from range(getvariable('pages')::bigint))
