-- The websites of the warehouse, with each name that they ever had. View `snapshots`: the markers.
select distinct website_id, website_name
from snapshots
order by website_name, website_id
