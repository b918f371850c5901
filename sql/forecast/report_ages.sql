-- How old the reports are, in whole days; null: none yet. Pages that keep failing are left out.
select
  -- With a null, greatest would say 0.
  if(
    report_fetched_at is null,
    null,
    greatest(0, date_diff('second', report_fetched_at, getvariable('planned_at')) // 86400)
  )::integer as days,
  count(*)::integer as pages
from candidates
where not keeps_failing and not never_fetched(url)
group by days
order by days nulls first
