select
  url,
  "at" as attempted_at,
  kind as outcome,
  http_status,
  message,
  reason
from odd_reports
where kind in ('missing', 'failed', 'unconfirmed')
