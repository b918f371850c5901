-- The first and the last date of the listings that a period of dates is compared with, null without any; and the date of
-- the first snapshot.
select min(before_date) as "first", max(before_date) as "last", min(snapshot_date) as begun
from snapshots
left join period_listings($since::date, $until::date) using (website_id)
where $website::varchar is null or website_id = $website::varchar
