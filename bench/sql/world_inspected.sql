-- The inspections of the night find what the pages are.
create or replace table world_pages as
select
  world_pages.* replace (
    if(planned.url is null, is_wanted, coalesce(found <> is_indexed, false)) as is_wanted,
    if(planned.url is null, found, is_indexed) as found,
    if(planned.url is null, inspected_on, getvariable('night')::integer) as inspected_on
  )
from world_pages
left join planned using (url)
