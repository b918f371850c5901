select
  source,
  url,
  position,
  received_at,
  issues::json::varchar as issues,
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
