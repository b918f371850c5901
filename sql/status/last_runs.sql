-- The newest ended run of each website, also where it got no snapshot, and what it spent. Views `runs`: one row per
-- website and run; `snapshots`: the markers.
select runs.*, committed.utilisation
from runs
left join (select website_id, run_id, utilisation from snapshots) as committed using (website_id, run_id)
qualify row_number() over (partition by website_id order by run_id desc) = 1
order by website_id
