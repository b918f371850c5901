-- title: Age of reports
-- description: How old the last report of the monitored pages is, counted from the website's newest snapshot; `never` are pages without one.
-- question: The service and the data
-- param website (text, default all): id or name of one website
-- grain: one row per website and span of days since the last report
-- show website_id (website): website
-- show report_age (text): report age
-- show pages (count): pages
-- show share (share): of all pages
-- show oldest_report_at (date): oldest
with newest as (
  select website_id, max(snapshot_at) as snapshot_at
  from snapshots
  where is_website(website_id, $website::varchar)
  group by website_id
),
aged as (
  select
    pages.website_id,
    pages.report_fetched_at,
    -- A report is fetched after its snapshot has begun.
    days_between(pages.report_fetched_at, newest.snapshot_at) as days
  from pages
  join newest using (website_id)
  where pages.is_monitored
)
select
  website_id,
  age_span(days) as report_age,
  count(*) as pages,
  round(count(*) / sum(count(*)) over (partition by website_id), 4) as share,
  min(report_fetched_at) as oldest_report_at
from aged
group by website_id, report_age
order by website_id, min(days) nulls last
