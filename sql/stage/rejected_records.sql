select
  getvariable('commit_id')::varchar as commit_id,
  getvariable('snapshot_id')::varchar as snapshot_id,
  getvariable('website_id')::varchar as website_id,
  getvariable('snapshot_at')::timestamptz as snapshot_at,
  getvariable('snapshot_date')::date as snapshot_date,
  source,
  url,
  position,
  received_at,
  issues::json as issues,
  payload,
  reason
from (
  select 'coverage' as source, url, position, listed_at as received_at, issues, payload, null as reason
  from odd_entries
  where kind = 'reject'
  union all
  select 'url_report', url, null, "at", issues, payload, reason
  from odd_reports
  where kind = 'rejected'
)
