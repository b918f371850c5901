-- When the runs of these snapshots went. View `runs`: their rows.
select
  run_id,
  website_id,
  epoch_ms(started_at)::double as started_ms,
  epoch_ms(finished_at)::double as finished_ms,
  requests_sent,
  requests_retried
from runs
