-- The coverage states of a website's pages, the most frequent first; null where it is not known. View `page_state`: one row
-- per page.
select index_coverage_state as state, count(*)::integer as pages
from page_state
where
  website_id = $website::varchar
  and disappeared_at is null
  and (index_coverage_state is null or length(index_coverage_state) <= 500)
group by state
order by pages desc, state
limit $limit::bigint
