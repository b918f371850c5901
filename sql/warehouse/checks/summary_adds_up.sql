-- The summary of a commit adds up to its coverage, state by state, as long as retention keeps the coverage.
select
  website_id,
  snapshot_id,
  format(
    'the summary of commit {} has {} pages and {} crawled ones too many as {}, {} (canonicals match: {})',
    commit_id, sum(pages), sum(crawled), coalesce(index_summary, '–'), coalesce(index_coverage_state, '–'),
    coalesce(canonicals_match::varchar, '–')
  ) as problem
from (
  select website_id, snapshot_id, commit_id, index_summary, index_coverage_state, canonicals_match, pages, crawled
  from coverage_summary
  where commit_id not in (select commit_id from tombstones where table_name = 'coverage')
  union all
  select website_id, snapshot_id, commit_id, index_summary, index_coverage_state, canonicals_match, -count(*),
    -count(last_crawl_time)
  from coverage
  where commit_id not in (select commit_id from tombstones where table_name = 'coverage')
  group by all
)
group by website_id, snapshot_id, commit_id, index_summary, index_coverage_state, canonicals_match
having sum(pages) <> 0 or sum(crawled) <> 0
