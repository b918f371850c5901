-- level: note
-- Every snapshot has the row of its run, unless that run is about to write it, or was taken over before it sent it.
select snapshots.website_id, snapshots.snapshot_id, format('run {} has no row in runs', snapshots.run_id) as problem
from snapshots
left join runs
  on runs.run_id = snapshots.run_id and runs.website_id = snapshots.website_id and runs.outcome = 'committed'
where
  runs.run_id is null
  and not coalesce(list_contains(getvariable('unfinished'), snapshots.run_id || '/' || snapshots.website_id), false)
