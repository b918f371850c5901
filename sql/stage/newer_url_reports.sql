-- Of a replay: the reports that are newer than the page's last known report.
select now.*
from now_url_reports as now
left join previous_state as was on was.url = now.url
where was.report_fetched_at is null or now.fetched_at > was.report_fetched_at
