-- The websites of the warehouse, with each name that they ever had; one that was synced and has no snapshot yet has none.
-- Views `snapshots`: the markers; `runs`: one row per website and run.
select distinct website_id, website_name
from snapshots
union all
select distinct website_id, null
from runs
where website_id not in (select website_id from snapshots)
order by website_name, website_id
