-- The drift diary: what the service sent that the contract does not define, and since when.
create or replace view api_drift as
select
  source,
  kind,
  field,
  "value",
  min(snapshot_at) as first_seen,
  max(snapshot_at) as last_seen,
  sum(occurrences)::bigint as occurrences,
  count(distinct snapshot_id) as snapshots,
  first(sample order by snapshot_id desc, sample) filter (sample is not null) as sample
from drift_observations
group by source, kind, field, "value"
