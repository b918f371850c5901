-- Which of some pages any website but these monitors now. View `pages`: one row per page.
select distinct url
from pages
where list_contains($urls, url) and is_monitored and not list_contains($websites, website_id)
