create or replace view previous_state as
select url, moment_of(born_on) as first_seen_at
from world_now
where born_on < getvariable('night')
