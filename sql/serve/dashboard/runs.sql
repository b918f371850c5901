-- The runs of a website, newest first, with the snapshot that each committed. Until its own row is written, a run is
-- known by its snapshot. `runs`: the total number.
select
  coalesce(ended.started_at, snapshot_at) as started_at,
  epoch(coalesce(ended.finished_at, committed.finished_at) - coalesce(ended.started_at, snapshot_at)) as took_seconds,
  coalesce(ended.outcome, 'committed') as outcome,
  ended.error,
  coalesce(ended.requests_sent, committed.requests_sent) as requests_sent,
  coalesce(ended.requests_throttled, committed.requests_throttled) as requests_throttled,
  committed.* exclude (requests_sent, requests_throttled),
  count(*) over () as runs
from (
  from runs
  where website_id = $website::varchar
) as ended
full join (
  from snapshots
  where website_id = $website::varchar
) as committed on committed.snapshot_id = ended.snapshot_id
order by started_at desc, coalesce(ended.run_id, committed.run_id) desc
limit $limit::bigint
offset $skip::bigint
