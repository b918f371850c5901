-- The listing of every commit, counted: `coverage_summary`, and the same of commits that are older than that table,
-- taken from their coverage. Where there are none, coverage is not read.
create or replace view snapshot_summary as
with not_summarized as (
  select * from unsummarized_coverage()
)
select * from coverage_summary
union all by name
select * from summary_of('not_summarized')
