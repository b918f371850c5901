-- Stands in for the search analytics that are final after three days.
create or replace view search_final as
select * exclude (age, is_early)
from search_days_of_world
where age between 3 and 100
