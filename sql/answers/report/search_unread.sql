-- How many days of search analytics the newest snapshot of a property up to a date had not read yet, and how many of those
-- that it had were unknown.
select search_days_left, search_days_unknown
from snapshots
where website_id = $website::varchar and snapshot_date <= $until::date
order by snapshot_id desc
limit 1
