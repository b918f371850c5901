-- The websites that know a page, and the snapshots that hold its newest report.
select website_id, report_snapshot_id, is_listed(status) as is_listed
from page_state
where url = $url::varchar
