-- Stands in for the search analytics of the two days before the night.
create or replace view search_fresh as
select * exclude (age, is_early)
from search_days_of_world
where is_early and age between 1 and 2
