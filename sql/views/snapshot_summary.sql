-- The listing of every commit, counted: `coverage_summary`, and the same of commits that are older than that table,
-- taken from their coverage. Where there are none, coverage is not read.
create or replace view snapshot_summary as
with not_summarized as (
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
)
select * from coverage_summary
union all by name
select * from summary_of('not_summarized')
