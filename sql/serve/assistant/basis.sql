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
    -- In days with one decimal; never negative, even if this machine's clock is slow.
    [
      round(greatest(0, epoch($now::timestamptz) - epoch(fetched_at)) / 86400, 1)
      for fetched_at in [max(report_fetched_at), median(report_fetched_at), min(report_fetched_at)]
    ] as ages
  from page_state
  where unlisted_since is null and ($website::varchar is null or website_id = $website::varchar)
  group by website_id
)
select
  newest.*,
  {snapshot_id: snapshot_id, date: snapshot_date, begun_at: snapshot_at, listing_status: listing_status} as newest_snapshot,
  coalesce(pages, 0) as pages,
  coalesce(pages_with_report, 0) as pages_with_report,
  if(is_property(website_id), coalesce(pages - pages_with_report, 0), 0)::integer as not_inspected,
  if(pages_with_report > 0, {newest: ages[1], median: ages[2], oldest: ages[3]}, null) as report_age_days
from newest
left join known using (website_id)
order by website_id
