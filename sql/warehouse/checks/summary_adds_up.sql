-- The summary of a listing has its pages, state by state, as long as retention keeps them; besides them it counts only
-- pages whose record is quarantined.
with rejected as (
  select snapshot_id, count(*) as pages
  from rejected_records
  where source = 'coverage'
  group by snapshot_id
),
compared as (
  select website_id, snapshot_id, index_summary, index_coverage_state, canonicals_match, sum(pages) as more
  from (
    select website_id, snapshot_id, index_summary, index_coverage_state, canonicals_match, pages
    from coverage_summary
    union all
    select website_id, snapshot_id, index_summary, index_coverage_state, canonicals_match, -count(*)
    from coverage
    group by all
  )
  where snapshot_id not in (select snapshot_id from tombstones where table_name = 'coverage')
  group by all
)
select
  website_id,
  snapshot_id,
  format(
    'the summary of {} has {} pages too few in a state, or {} more than its listing with {} in quarantine',
    snapshot_id, greatest(-min(more), 0), sum(more), coalesce(any_value(rejected.pages), 0)
  ) as problem
from compared
left join rejected using (snapshot_id)
group by website_id, snapshot_id
having min(more) < 0 or sum(more) > coalesce(any_value(rejected.pages), 0)
