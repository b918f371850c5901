-- What an interrupted run has not requested yet, in the plan's order.
select plan.url, plan.reason
from (
  select url, reason, row_number() over () as place
  from read_json(
    getvariable('plan_file'),
    format = 'newline_delimited',
    columns = {url: 'VARCHAR', reason: 'VARCHAR'}
  )
) as plan
anti join journal_reports using (url)
order by place
