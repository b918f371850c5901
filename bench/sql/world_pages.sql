-- The pages of a simulated website, and those that it gets later: whether each is indexed on the night before the first, the
-- share of its section that should be, whether its section is edited often, and the chance that search shows it on a day.
create or replace table world_pages as
select
  'https://w.example/' || page as url,
  page,
  case
    when page < getvariable('pages') then 0
    when getvariable('moved') > 0 then getvariable('moved')
    else 1 + (page - getvariable('pages')) // greatest(getvariable('growth') * getvariable('pages'), 1)
  end::integer as born_on,
  unit(section, 1, 1) as share,
  unit(section, 1, 2) < 0.3 as is_lively,
  section < 8 as is_hit,
  born_on = 0 and unit(page, 0, 3) < share as is_indexed,
  is_indexed as was_indexed,
  -- How many impressions a day has is lognormal.
  if(
    unit(page, 0, 4) < getvariable('traffic'),
    1 - exp(-exp(2 * sqrt(-2 * ln(1 - unit(page, 0, 5))) * cos(2 * pi() * unit(page, 0, 6)))),
    0
  ) as chance,
  -- Pages that the website moves away from, or that leave it.
  case
    when born_on > 0 or getvariable('moved') + getvariable('leaving') = 0 then null
    when getvariable('moved') > 0 then getvariable('moved')
    else floor(ln(1 - unit(page, 0, 11)) / ln(1 - getvariable('leaving')))
  end::integer as left_on,
  null::integer as fell_on,
  null::integer as modified_on,
  null::integer as inspected_on,
  null::boolean as found,
  null::varchar as wanted,
  null::integer as plain_on,
  null::boolean as plain_found
from (
  select range as page, hash(range, getvariable('seed')) % 40 as section
  from range(getvariable('pages')::bigint + getvariable('later')::bigint)
)
