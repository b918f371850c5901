-- How the report of each planned page ended in this commit.
create or replace temp view report_attempts as
select url, 'fetched' as outcome, fetched_at as attempted_at
from ranged_url_reports
union all
select url, outcome, attempted_at
from ranged_report_failures
union all
select url, 'rejected', received_at
from ranged_rejected_records
where source = 'url_report'
