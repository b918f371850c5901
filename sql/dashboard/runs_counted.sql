-- How many rows `runs` has of a website.
select count(*)::integer as runs
from (
  select snapshot_id
  from runs
  where website_id = $website::varchar
) as ended
full join (
  select snapshot_id
  from snapshots
  where website_id = $website::varchar
) as committed using (snapshot_id)
