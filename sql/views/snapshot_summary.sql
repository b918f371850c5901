-- The listing of every commit, counted: `coverage_summary`, and for commits older than that table the same counts from
-- their coverage. Coverage is not read if there are no such commits.
create or replace view snapshot_summary as
with not_summarized as (
  select * from unsummarized_coverage()
)
select * from coverage_summary
union all by name
select * from summary_of('not_summarized')
