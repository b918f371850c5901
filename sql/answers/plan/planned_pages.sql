-- The reports wanted for one website, in the plan's order.
select
  plan.place,
  plan.url,
  plan.reason,
  days_between(candidates.report_fetched_at, getvariable('planned_at'))::integer as report_age_days
from (select row_number() over () as place, url, reason from report_plan) as plan
join candidates on candidates.url = plan.url
where plan.place <= getvariable('first')::bigint
order by plan.place
