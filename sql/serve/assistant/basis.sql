-- What an answer about each website is based on: its newest snapshot, how many there are, and how old the reports of
-- its monitored pages are.
with newest as (
  select *, count(*) over own::integer as snapshots, min(snapshot_date) over own as first_snapshot_date
  from snapshots
  where $website::varchar is null or website_id = $website::varchar
  window own as (partition by website_id)
  qualify row_number() over (partition by website_id order by snapshot_id desc) = 1
),
known as (
  select
    website_id,
    count(*)::integer as pages,
    count(report_fetched_at)::integer as pages_with_report,
    max(report_fetched_at) as newest_report_at,
    median(report_fetched_at) as median_report_at,
    min(report_fetched_at) as oldest_report_at
  from page_state
  where unlisted_since is null and ($website::varchar is null or website_id = $website::varchar)
  group by website_id
)
select
  * replace (coalesce(pages, 0) as pages, coalesce(pages_with_report, 0) as pages_with_report),
  if(is_property(website_id), coalesce(pages - pages_with_report, 0), 0)::integer as not_inspected
from newest
left join known using (website_id)
order by website_id
