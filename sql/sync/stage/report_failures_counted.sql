-- The reports of a run that were not answered as they should be: 404s of listed pages whose reports did not fail before
-- (`unknown_pages`), since when, and the most frequent answer. Views `journal_reports`: one row per answer;
-- `previous_state`: one row per page.
select
  count(*) filter (
    kind = 'missing' and reason <> 'missing' and coalesce(previous_state.consecutive_failures, 0) = 0
  )::integer as unknown_pages,
  min("at") as since,
  mode(message) filter (kind = 'failed') as message
from journal_reports
left join previous_state using (url)
where kind in ('failed', 'missing')
