-- The requests of each run, newest first, as in the analysis of this name.
create or replace view api_usage as
select
  runs.website_id as website_id,
  runs.run_id as run_id,
  runs.started_at as started_at,
  floor(seconds / 60 * 10 + 0.5) / 10 as minutes,
  runs.outcome as outcome,
  runs.requests_sent as requests_sent,
  runs.requests_throttled as requests_throttled,
  runs.requests_retried as requests_retried,
  floor(60 * runs.requests_sent / nullif(seconds, 0) * 10 + 0.5) / 10 as requests_per_minute,
  snapshots.pages_listed as pages_listed,
  snapshots.reports_planned as reports_planned,
  snapshots.reports_fetched as reports_fetched,
  runs.error as error,
  runs.snapshot_date as snapshot_date
from (
  select *, dateDiff('microsecond', started_at, finished_at) / 1000000 as seconds
  from runs
) as runs
left join snapshots on snapshots.snapshot_id = runs.snapshot_id
order by started_at desc, website_id
settings join_use_nulls = 1
