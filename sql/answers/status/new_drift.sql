-- What a snapshot showed of its website for the first time; `$snapshot` null: the newest one of each website.
select website_id, source, kind, field, "value", occurrences::integer as occurrences, sample
from drift_observations
qualify
  snapshot_id = min(snapshot_id) over (partition by website_id, source, kind, field, "value")
  and snapshot_id = coalesce(
    $snapshot::varchar,
    (select max(snapshots.snapshot_id) from snapshots where snapshots.website_id = drift_observations.website_id)
  )
order by website_id, occurrences desc, source, kind, field, "value"
