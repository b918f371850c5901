-- What a plain rotation would inspect: the pages that it has not inspected for longest.
create or replace table plain as
select url
from world_now
order by plain_on nulls first, unit(page, 0, 12)
limit getvariable('a_night')::bigint
