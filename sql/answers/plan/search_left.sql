-- Of a website of Search Console: the days of search analytics that its newest snapshot left for later nights, and how many
-- types of search show pages of it.
select
  max_by(search_days_left, snapshot_id)::integer as days_left,
  (select count(distinct "type")::integer from search_dates where website_id = $website::varchar and pages > 0) as types
from snapshots
where website_id = $website::varchar
