-- The first and the last date of the listings that a period of dates is compared with; null without any.
select min(before_date) as "first", max(before_date) as "last"
from period_listings($since::date, $until::date)
where $website::varchar is null or website_id = $website::varchar
