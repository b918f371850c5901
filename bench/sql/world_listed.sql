create or replace view listed_entries as
select url, 'entry' as kind, json_object('lastmod', (moment_of(modified_on) - interval 1 hour)::varchar) as extra
from world_now
