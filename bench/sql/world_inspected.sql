-- The inspections of the night find what the pages are, and so do those of a plain rotation.
create or replace table world_pages as
select
  world_pages.* replace (
    case
      when planned.url is not null then if(found <> is_indexed, 'changed', null)
      when left_on = getvariable('night') then 'missing'
      else wanted
    end as wanted,
    if(planned.url is null, found, is_indexed) as found,
    if(planned.url is null, inspected_on, getvariable('night')::integer) as inspected_on,
    if(plain.url is null, plain_found, is_indexed) as plain_found,
    if(plain.url is null, plain_on, getvariable('night')::integer) as plain_on
  )
from world_pages
left join planned using (url)
left join plain using (url)
