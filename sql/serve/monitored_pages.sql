-- Whether any website monitors a page now. View `pages`: one row per page.
select count(*)::integer as websites
from pages
where url = $url::varchar and is_monitored
