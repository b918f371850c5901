-- title: Age of reports
-- description: How old the last report of the monitored pages is, counted from the website's newest snapshot; `never` are pages without one.
-- question: The service and the data
-- grain: one row per website and span of days since the last report
-- show report_age (text): report age
-- show pages (count): pages
-- show share (share): of all pages
-- show oldest_report_at (time): oldest
select
  website_id,
  age_span(days_between(report_fetched_at, newest_at(website_id))) as report_age,
  count(*) as pages,
  round(count(*) / sum(count(*)) over (partition by website_id), 4) as share,
  min(report_fetched_at) as oldest_report_at
from page_state
where is_listed(status) and is_website(website_id, $website::varchar)
group by website_id, report_age
order by website_id, oldest_report_at desc nulls last
