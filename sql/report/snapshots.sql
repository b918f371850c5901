-- The snapshots that a report rests on, oldest first. `$website`: an id or null for all; `$from`, `$until`: dates.
-- View `snapshots`: the markers; `rejected_records`: what the listing or a report lost to the quarantine.
select
  website_id,
  website_name,
  snapshot_id,
  snapshot_date::varchar as snapshot_date,
  strftime(snapshot_at, '%Y-%m-%dT%H:%M:%S.%gZ') as snapshot_at,
  epoch(finished_at - snapshot_at) as took_seconds,
  listing_status,
  pages_expected,
  pages_listed,
  pages_rejected,
  reports_status,
  reports_wanted,
  reports_planned,
  reports_fetched,
  reports_missing,
  reports_failed,
  reports_rejected,
  requests_sent,
  requests_throttled,
  requests_retried,
  utilisation
from snapshots
where
  ($website::varchar is null or website_id = $website::varchar)
  and snapshot_date between $from::date and $until::date
order by website_id, snapshot_at, snapshot_id
