-- The newest ended run of each website, also where it got no snapshot, and what it spent. Views `runs`: one row per
-- website and run; `snapshots`: the markers.
select
  website_id,
  max(run_id) as run_id,
  strftime(arg_max(started_at, run_id), '%Y-%m-%dT%H:%M:%S.%gZ') as started_at,
  strftime(arg_max(finished_at, run_id), '%Y-%m-%dT%H:%M:%S.%gZ') as finished_at,
  arg_max(outcome, run_id) as outcome,
  arg_max_null(error, run_id) as error,
  arg_max(requests_sent, run_id) as requests_sent,
  arg_max(requests_throttled, run_id) as requests_throttled,
  arg_max(requests_retried, run_id) as requests_retried,
  arg_max_null(utilisation, run_id) as utilisation
from runs
left join (select website_id, run_id, utilisation from snapshots) as committed using (website_id, run_id)
group by website_id
order by website_id
