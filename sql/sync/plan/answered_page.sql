-- The page whose report was answered last in an earlier run. View `previous_state`: one row per page.
select url, spelling
from previous_state
where report_fetched_at is not null and consecutive_failures = 0 and disappeared_at is null
order by report_fetched_at desc, url
limit 1
