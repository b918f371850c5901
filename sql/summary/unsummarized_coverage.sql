-- Coverage of the commits that are older than the table `coverage_summary`. A caller that already knows which files
-- those are replaces this macro, and so opens no other file of `coverage`.
create or replace macro unsummarized_coverage() as table
select *
from coverage
where commit_id in (
  select snapshot_id
  from snapshots
  where json_exists(files, '$.coverage') and not json_exists(files, '$.coverage_summary')
  union all
  select replay_id
  from replays
  where json_exists(files, '$.coverage') and not json_exists(files, '$.coverage_summary')
)
