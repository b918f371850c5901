-- Summarises a commit's coverage. Only the 500 largest directories are named, so that the summary of a site with one
-- directory per page is not as long as its listing. View `now_coverage`: the rows of the commit.
with counted as (
  select
    commit_id,
    snapshot_id,
    website_id,
    snapshot_at,
    snapshot_date,
    directory_of(url) as directory,
    index_summary,
    index_coverage_state,
    canonicals_match,
    count(*) as pages,
    count(last_crawl_time) as crawled,
    coalesce(
      sum(coalesce(days_since_last_crawl, floor((epoch(listed_at) - epoch(last_crawl_time)) / 86400))),
      0
    ) as days_since_crawl_total
  from now_coverage
  group by all
),
largest as (
  select commit_id, directory
  from counted
  group by commit_id, directory
  qualify row_number() over (partition by commit_id order by sum(pages) desc, directory) <= 500
)
select
  commit_id,
  snapshot_id,
  website_id,
  snapshot_at,
  snapshot_date,
  if(largest.directory is null, '(other)', counted.directory) as directory,
  index_summary,
  index_coverage_state,
  canonicals_match,
  sum(pages)::integer as pages,
  sum(crawled)::integer as crawled,
  sum(days_since_crawl_total)::bigint as days_since_crawl_total
from counted
left join largest using (commit_id, directory)
group by all
