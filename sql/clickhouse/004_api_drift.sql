-- The drift diary: what the service sent that the contract does not foresee, and since when.
create or replace view api_drift as
select
  source,
  kind,
  field,
  "value",
  min(snapshot_at) as first_seen,
  max(snapshot_at) as last_seen,
  sum(drift_observations.occurrences) as occurrences,
  count(distinct snapshot_id) as snapshots,
  argMinIf(
    drift_observations.sample,
    (-toUnixTimestamp64Micro(assumeNotNull(snapshot_at)), coalesce(drift_observations.sample, '')),
    drift_observations.sample is not null
  ) as sample
from drift_observations
group by source, kind, field, "value"
