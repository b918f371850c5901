-- The snapshots that a report is based on, oldest first. `$website`: an id or null for all; `$from`, `$until`: dates.
select *, epoch(finished_at - snapshot_at) as took_seconds
from snapshots
where
  ($website::varchar is null or website_id = $website::varchar)
  and snapshot_date between $from::date and $until::date
order by website_id, snapshot_id
