-- The reports wanted for one website, in the plan's order: the first ones, and the one at a given place beyond them.
select
  plan.place,
  plan.url,
  plan.reason,
  (date_diff('second', candidates.report_fetched_at, getvariable('planned_at')) // 86400)::integer as report_age_days
from (select row_number() over () as place, url, reason from report_plan) as plan
join candidates on candidates.url = plan.url
where plan.place <= getvariable('first')::bigint or plan.place = getvariable('beyond')::bigint
order by plan.place
