-- The first and the last date of the listings that a period of dates is compared with, null without any. `begun` is the
-- first date with a snapshot, `moving` the first of the period on which anything can differ from these listings.
select
  min(before_date) as "first",
  max(before_date) as "last",
  greatest($since::date, min(snapshot_date)) as begun,
  greatest($since::date, min(before_date) + 1) as moving
from snapshots
left join period_listings($since::date, $until::date) using (website_id)
where $website::varchar is null or website_id = $website::varchar
