-- Summarises a commit's listing, from the state after it. A page whose record is quarantined counts with its last known
-- state. Only the 500 largest directories are named, so that the summary of a site with one directory per page is not as
-- long as its listing.
with listed as (
  select directory_of(url) as directory, status, index_summary, index_coverage_state, canonicals_match
  from now_page_state
  where
    listed_snapshot_id = getvariable('snapshot_id')::varchar
    or (
      listed_snapshot_id is not null
      and unlisted_since is null
      and url in (select url from now_rejected_records where source = 'coverage')
    )
),
largest as (
  select directory
  from listed
  group by directory
  order by count(*) desc, directory
  limit 500
)
select
  if(largest.directory is null, '(other)', listed.directory) as directory,
  index_summary,
  index_coverage_state,
  canonicals_match,
  count(*)::integer as pages,
  status
from listed
left join largest on largest.directory = listed.directory
group by all
