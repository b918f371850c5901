-- Stands in for the view that stage/journal_reports makes of a journal.
create or replace temp view journal_reports as
select
  'fetched' as kind,
  url,
  reason,
  "at",
  null::integer as http_status,
  null::varchar as message,
  null::varchar[] as absent,
  null::varchar as extra,
  null::varchar as issues,
  null::varchar as payload,
  report
from night_reports
