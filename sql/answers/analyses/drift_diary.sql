-- title: Drift diary
-- description: What the service sent that the contract does not foresee, since when and how often; newest first. `first_seen_date` is the date of the snapshot, in the warehouse's time zone. The sample is a page that showed it.
-- question: The service and the data
-- param since (date, default none): first seen on or after this date
-- param limit (integer, default none): at most this many rows
-- grain: one row per website, source, kind, field and value
-- show first_seen_date (date): first seen
-- show last_seen (time): last seen
-- show source (text): source
-- show kind (text): what
-- show field (text): field
-- show value (text): value
-- show snapshots (count): snapshots
-- show occurrences (count): times
-- show sample (url): sample
select
  website_id,
  source,
  kind,
  field,
  "value",
  min(snapshot_at) as first_seen,
  min(snapshot_date) as first_seen_date,
  max(snapshot_at) as last_seen,
  count(distinct snapshot_id) as snapshots,
  sum(occurrences)::bigint as occurrences,
  first(sample order by snapshot_id desc, sample) filter (sample is not null) as sample
from drift_observations
where is_website(website_id, $website::varchar)
group by website_id, source, kind, field, "value"
having $since::date is null or min(snapshot_date) >= $since::date
order by first_seen desc, website_id, source, kind, field, "value"
limit $limit::bigint
