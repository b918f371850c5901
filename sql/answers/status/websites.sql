-- Each website that has a snapshot or an ended run: its newest snapshot and how many there are, its newest run, even
-- if that committed no snapshot, and how many of its monitored pages have a report and how old those are. Ages are not
-- cast to INTEGER, which ends at 68 years: a clock may be wrong by more.
with last_snapshot as (
  select
    *,
    floor(epoch($checked_at::timestamptz) - epoch(snapshot_at)) as age_seconds,
    count(*) over (partition by website_id)::integer as counted
  from snapshots
  qualify row_number() over (partition by website_id order by snapshot_id desc) = 1
),
last_run as (
  select runs.*, committed.utilisation
  from runs
  left join (select website_id, run_id, utilisation from snapshots) as committed using (website_id, run_id)
  qualify row_number() over (partition by website_id order by run_id desc) = 1
),
known as (
  select
    website_id,
    count(*)::integer as monitored,
    count(report_fetched_at)::integer as with_report,
    floor(epoch($checked_at::timestamptz) - epoch(min(report_fetched_at))) as oldest_report_seconds,
    floor(median(epoch($checked_at::timestamptz) - epoch(report_fetched_at))) as median_report_seconds,
    floor(quantile_cont(epoch($checked_at::timestamptz) - epoch(report_fetched_at), 0.9)) as p90_report_seconds,
    with_report / monitored as report_share,
    (count(*) filter (not is_confirmed))::integer as unconfirmed
  from page_state
  where unlisted_since is null
  group by website_id
)
select
  website_id,
  last_snapshot.website_name,
  coalesce(last_snapshot.counted, 0) as snapshots,
  list_sum((last_snapshot.quotas::json ->> '$[*].per_day')::integer[])::integer as inspections_a_day,
  if(last_snapshot.snapshot_id is null, null, last_snapshot) as last_snapshot,
  if(last_run.run_id is null, null, last_run) as last_run,
  if(known.monitored is null, null, known) as pages
from last_snapshot
full join last_run using (website_id)
left join known using (website_id)
order by website_id
