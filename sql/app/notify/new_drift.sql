-- What a website's snapshot showed for the first time. View `drift_observations`: one row per commit and observation.
select
  kind,
  field,
  "value",
  sum(occurrences) filter (snapshot_id = $snapshot)::integer as occurrences,
  min(sample) filter (snapshot_id = $snapshot) as sample
from drift_observations
where website_id = $website
group by source, kind, field, "value"
having min(snapshot_id) = $snapshot
order by occurrences desc, kind, field, "value"
