-- What is known of one page now. View `page_state`: one row per page.
select *, case canonicals_match when true then 'yes' when false then 'no' end as canonicals
from page_state
where website_id = $website::varchar and url = $url::varchar
