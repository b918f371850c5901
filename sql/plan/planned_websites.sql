-- The newest snapshot of each website, how many requests a minute its run sent (null if it was interrupted or has no
-- row yet), and how many requests its newest complete listing took: those of the run less reports and repeated ones.
-- Views: `snapshots`, `runs`.
with newest as (
  select
    website_id,
    max_by(snapshots, snapshot_id) as latest,
    max_by(snapshots, snapshot_id) filter (listing_status = 'complete') as walked
  from snapshots
  group by website_id
)
select
  newest.website_id,
  latest.website_name,
  latest.snapshot_id,
  case when not latest.resumed and ran.finished_at > ran.started_at then
    ran.requests_sent * 60e6 / (epoch_us(ran.finished_at) - epoch_us(ran.started_at))
  end as requests_per_minute,
  nullif(
    greatest(0, walked.requests_sent - walked.reports_planned - coalesce(walk.requests_retried, 0)), 0
  )::integer as listing_requests
from newest
left join runs as ran on ran.run_id = latest.run_id and ran.website_id = newest.website_id
left join runs as walk on walk.run_id = walked.run_id and walk.website_id = newest.website_id
order by newest.website_id
