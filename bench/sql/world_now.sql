-- The pages that are listed: also those that nothing has named for less than thirty nights.
create or replace view world_now as
from world_pages
where born_on <= getvariable('night') and coalesce(left_on + 30 > getvariable('night'), true)
