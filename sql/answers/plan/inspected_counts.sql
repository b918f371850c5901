-- How many pages of a website are listed, and how many of these were never inspected.
select website_id, count(*)::integer as pages, count_if(report_fetched_at is null)::integer as not_inspected
from page_state
where website_id = $website::varchar and disappeared_at is null
group by website_id
