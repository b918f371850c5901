-- Whether a website that is not among these monitors a page now. View `pages`: one row per page.
select count(*) > 0 as is_monitored
from pages
where url = $url::varchar and is_monitored and not list_contains($websites, website_id)
