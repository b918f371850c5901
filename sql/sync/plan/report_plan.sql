-- The pages whose reports to fetch, the most informative first.
select url, reason
from candidates
where (reason <> 'oldest' or refresh_due(url, report_fetched_at)) and not never_fetched(url)
order by
  keeps_failing,
  goes_first(url) desc,
  list_position(getvariable('reasons'), reason),
  report_fetched_at nulls first,
  url
limit getvariable('max_reports')::bigint
