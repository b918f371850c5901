-- What happens to the pages in a night: they move towards the share of their section, are edited, and in an accident a fifth
-- of the sections is out of the index from one night to another. A new page comes into the index within some nights, and one
-- that is left falls out.
create or replace table world_pages as
select
  * exclude (night, moved) replace (
    case
      when is_hit and night >= getvariable('accident') and night < getvariable('repaired') then false
      when is_hit and night = getvariable('repaired') then was_indexed
      else moved
    end as is_indexed,
    if(night < getvariable('accident'), moved, was_indexed) as was_indexed,
    case when moved then null when is_indexed then night else fell_on end as fell_on,
    if(night > 0 and unit(page, night, 7) < if(is_lively, 0.008, 0.008 / 6), night, modified_on) as modified_on
  )
from (
  select
    *,
    getvariable('night')::integer as night,
    is_indexed <> (
      unit(page, night, 8) < case
        when left_on <= night then if(is_indexed, 0.1, 0)
        when is_indexed then getvariable('turnover') * (1 - share) + getvariable('loss')
        when born_on > night then 0
        when born_on > 0 and fell_on is null then if(unit(page, 0, 3) < share, 0.15, 0)
        else if(getvariable('loss') > 0, 0, getvariable('turnover') * share)
      end
    ) as moved
  from world_pages
)
