-- How much of each website is known by a report, and how old those reports are. View `page_state`: one row per page.
-- Pages that disappeared are left out.
select
  website_id,
  count(*)::integer as monitored,
  count(report_fetched_at)::integer as with_report,
  floor(epoch($checked_at::timestamptz) - epoch(min(report_fetched_at)))::integer as oldest_report_seconds,
  floor(median(epoch($checked_at::timestamptz) - epoch(report_fetched_at)))::integer as median_report_seconds
from page_state
where disappeared_at is null
group by website_id
order by website_id
