-- The websites that list a page or used to.
select website_id
from page_state
where url = $url::varchar and ($website::varchar is null or website_id = $website::varchar)
order by website_id
limit $limit::bigint
