-- The websites that know a page, and the snapshots that hold its newest report.
select website_id, report_snapshot_id, is_listed
from pages
where url = $url::varchar
