select
  getvariable('commit_id')::varchar as commit_id,
  getvariable('snapshot_id')::varchar as snapshot_id,
  getvariable('website_id')::varchar as website_id,
  getvariable('snapshot_at')::timestamptz as snapshot_at,
  getvariable('snapshot_date')::date as snapshot_date,
  "at" as fetched_at,
  reason,
  unnest(report),
  extra::json as extra
from journal_reports
where kind = 'fetched'
