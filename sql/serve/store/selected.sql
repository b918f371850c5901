-- The pages of `listed` that a request selects, with the value that it sorts by, in `ascending` or `descending`; the
-- other one is null.
select
  url,
  case $sort::varchar
    when 'index_summary' then index_summary
    when 'index_coverage_state' then index_coverage_state
    when 'last_crawl_time' then iso_time(last_crawl_time)
  end as ascending,
  case $sort::varchar
    when '-url' then url
    when '-index_summary' then index_summary
    when '-index_coverage_state' then index_coverage_state
    when '-last_crawl_time' then iso_time(last_crawl_time)
  end as descending
from listed
where
  ($index_summary::varchar is null or index_summary = $index_summary::varchar)
  and ($index_coverage_state::varchar is null or index_coverage_state = $index_coverage_state::varchar)
  and (
    $canonicals_match::varchar is null
    or coalesce(canonicals_match::varchar, 'none') = $canonicals_match::varchar
  )
  and ($url_contains::varchar is null or contains(url, $url_contains::varchar))
  and ($crawled_before::bigint is null or epoch_ms(last_crawl_time) < $crawled_before::bigint)
  and ($crawled_after::bigint is null or epoch_ms(last_crawl_time) >= $crawled_after::bigint)
