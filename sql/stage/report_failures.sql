select
  getvariable('commit_id')::varchar as commit_id,
  getvariable('snapshot_id')::varchar as snapshot_id,
  getvariable('website_id')::varchar as website_id,
  getvariable('snapshot_at')::timestamptz as snapshot_at,
  getvariable('snapshot_date')::date as snapshot_date,
  url,
  "at" as attempted_at,
  kind as outcome,
  http_status,
  message,
  reason
from odd_reports
where kind in ('missing', 'failed')
