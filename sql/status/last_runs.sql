-- The newest ended run of each website, also where it got no snapshot. View `runs`: one row per website and run.
select
  website_id,
  max(run_id) as run_id,
  strftime(arg_max(started_at, run_id), '%Y-%m-%dT%H:%M:%S.%gZ') as started_at,
  strftime(arg_max(finished_at, run_id), '%Y-%m-%dT%H:%M:%S.%gZ') as finished_at,
  arg_max(outcome, run_id) as outcome,
  arg_max_null(error, run_id) as error,
  arg_max(requests_sent, run_id) as requests_sent
from runs
group by website_id
order by website_id
