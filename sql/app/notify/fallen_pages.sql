-- The pages that one complete listing shows as indexed and a later one (`$now`) does not: how many, their most frequent
-- directory and state, and five of them. A page that is quarantined in the later one is not counted. Views `coverage`:
-- one row per snapshot and page; `rejected_records`: what was rejected.
with earlier as (
  select url from coverage where snapshot_id = $before and index_summary = 'Indexed'
),
later as (
  select url, index_summary, index_coverage_state from coverage where snapshot_id = $now
),
quarantined as (
  select url from rejected_records where snapshot_id = $now and source = 'coverage' and url is not null
),
found as (
  select
    earlier.url,
    directory_of(earlier.url) as directory,
    if(later.url is null, 'not listed any more', coalesce(later.index_coverage_state, 'no data')) as state
  from earlier
  left join later using (url)
  where
    later.index_summary is distinct from 'Indexed'
    and earlier.url not in (select url from quarantined)
    and ($directory::varchar is null or directory_of(earlier.url) = $directory::varchar)
)
from places_of('found')
