-- The websites that have a snapshot, with the name in their newest one, ordered by id. View `snapshots`: the markers.
select website_id as id, coalesce(arg_max_null(website_name, snapshot_id), website_id) as name
from snapshots
group by website_id
order by id
