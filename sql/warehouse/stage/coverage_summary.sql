-- Summarises a commit's listing. A page whose record is quarantined
-- counts with its last known state. Only the 500 largest directories are named, so that the summary of a site with one
-- directory per page is not as long as its listing. Views as for `compared`.
with kept as (
  select distinct url
  from ranged_rejected_records
  where source = 'coverage'
),
listed as (
  select url, index_summary, index_coverage_state, canonicals_match, 1 as pages
  from ranged_coverage
  union all
  select url, index_summary, index_coverage_state, canonicals_match, 1
  from ranged_state
  semi join kept using (url)
  where listed_snapshot_id is not null and unlisted_since is null
),
counted as (
  select directory_of(url) as directory, index_summary, index_coverage_state, canonicals_match, sum(pages) as pages
  from listed
  group by all
  having sum(pages) <> 0
),
largest as (
  select directory
  from counted
  group by directory
  order by sum(pages) desc, directory
  limit 500
)
select
  if(largest.directory is null, '(other)', counted.directory) as directory,
  index_summary,
  index_coverage_state,
  canonicals_match,
  sum(pages)::integer as pages
from counted
left join largest on largest.directory = counted.directory
group by all
