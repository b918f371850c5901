-- What an interrupted run has not requested yet, in the plan's order.
select plan.url, plan.reason, plan.spelling, plan.history
from (
  select url, reason, spelling, history, row_number() over () as place
  from read_json(
    getvariable('plan_file'),
    format = 'newline_delimited',
    columns = {url: 'VARCHAR', reason: 'VARCHAR', spelling: 'VARCHAR', history: 'VARCHAR'}
  )
) as plan
anti join journal_reports using (url)
order by place
