create or replace view previous_state as
select url, moment_of(0) as first_seen_at
from world_pages
where getvariable('night') > 0
