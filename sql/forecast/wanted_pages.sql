-- What is wanted of one website, in the plan's order, from a place on; the plan itself is cut behind the last.
select
  plan.place,
  plan.url,
  plan.reason,
  (date_diff('second', candidates.report_fetched_at, getvariable('planned_at')) // 86400)::integer as report_age_days
from (
  select place, url, reason
  from (select row_number() over () as place, url, reason from report_plan)
  where place >= getvariable('from_place')::bigint
) as plan
join candidates on candidates.url = plan.url
order by plan.place
