-- The websites that were ever synced; one that has no snapshot yet has no name.
select distinct website_id, null::varchar as website_name
from runs
order by website_id
