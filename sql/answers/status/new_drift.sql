-- What the newest snapshot of each website showed for the first time.
select
  website_id,
  source,
  kind,
  field,
  "value",
  sum(occurrences)::integer as occurrences,
  min(sample) as sample
from drift_observations
group by website_id, source, kind, field, "value"
having min(snapshot_id) = (
  select max(snapshots.snapshot_id) from snapshots where snapshots.website_id = drift_observations.website_id
)
order by website_id, occurrences desc, source, kind, field, "value"
