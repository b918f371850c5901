-- For a replay: the reports that are newer than the page's last known report.
select now.*
from previous_state as was
right join now_url_reports as now on now.url = was.url
where was.report_fetched_at is null or now.fetched_at > was.report_fetched_at
