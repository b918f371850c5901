-- What is known about one page now, once for each website that lists it or used to; `website`: only of this one, if
-- not null.
select *, canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals
from page_state
where url = $url::varchar and ($website::varchar is null or website_id = $website::varchar)
order by website_id
