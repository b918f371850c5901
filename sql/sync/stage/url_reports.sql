select
  "at" as fetched_at,
  reason,
  unnest(report),
  extra::json::varchar as extra
from journal_reports
where kind = 'fetched'
