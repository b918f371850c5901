-- What is known about one page now.
select *, canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals
from page_state
where website_id = $website::varchar and url = $url::varchar
