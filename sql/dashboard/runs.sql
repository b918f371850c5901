-- The runs of a website, newest first, with the snapshot that each committed. A run is seen through its snapshot before
-- its own row is written. View `runs`: one row per run; `snapshots`: the markers.
with ended as (
  select runs.run_id, runs.started_at, runs.finished_at, runs.outcome, runs.error, runs.snapshot_id,
    runs.requests_sent, runs.requests_throttled
  from runs
  where runs.website_id = $website::varchar
),
committed as (
  select *
  from snapshots
  where website_id = $website::varchar
)
select
  iso_time(coalesce(ended.started_at, committed.snapshot_at)) as started_at,
  epoch(
    coalesce(ended.finished_at, committed.finished_at) - coalesce(ended.started_at, committed.snapshot_at)
  ) as took_seconds,
  coalesce(ended.outcome, 'committed') as outcome,
  ended.error,
  committed.listing_status,
  committed.pages_expected,
  committed.pages_listed,
  committed.pages_rejected,
  committed.reports_status,
  committed.reports_planned,
  committed.reports_wanted,
  committed.reports_fetched,
  committed.reports_missing,
  committed.reports_failed,
  committed.reports_rejected,
  coalesce(ended.requests_sent, committed.requests_sent) as requests_sent,
  coalesce(ended.requests_throttled, committed.requests_throttled) as requests_throttled
from ended
full join committed on committed.snapshot_id = ended.snapshot_id
order by started_at desc, coalesce(ended.run_id, committed.run_id) desc
limit $limit::bigint
offset $skip::bigint
