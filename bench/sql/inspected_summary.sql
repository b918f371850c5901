insert into coverage_summary by name
select website_id, website_id || snapshot_date as snapshot_id, snapshot_date, page as pages
from inspected
where reason is null
