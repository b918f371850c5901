-- The summary of a commit adds up to its coverage, state by state.
select
  website_id,
  snapshot_id,
  format(
    'the summary of commit {} has {} pages too many as {}, {} (canonicals match: {}), or their crawls differ',
    commit_id, sum(pages), coalesce(index_summary, '–'), coalesce(index_coverage_state, '–'),
    coalesce(canonicals_match::varchar, '–')
  ) as problem
from (
  select
    website_id,
    snapshot_id,
    commit_id,
    index_summary,
    index_coverage_state,
    canonicals_match,
    pages,
    crawled,
    days_since_crawl_total as days
  from coverage_summary
  union all
  select
    website_id,
    snapshot_id,
    commit_id,
    index_summary,
    index_coverage_state,
    canonicals_match,
    -count(*),
    -count(last_crawl_time),
    -coalesce(sum(days_since_last_crawl), 0)
  from coverage
  where commit_id in (
    select snapshot_id from snapshots where json_exists(files, '$.coverage_summary')
    union all
    select replay_id from replays where json_exists(files, '$.coverage_summary')
  )
  group by all
)
group by website_id, snapshot_id, commit_id, index_summary, index_coverage_state, canonicals_match
having sum(pages) <> 0 or sum(crawled) <> 0 or sum(days) <> 0
