-- What is wanted of one website, in the plan's order: the first so many pages, and the one at a place beyond them.
select
  plan.place,
  plan.url,
  plan.reason,
  (date_diff('second', candidates.report_fetched_at, getvariable('planned_at')) // 86400)::integer as report_age_days
from (select row_number() over () as place, url, reason from report_plan) as plan
join candidates on candidates.url = plan.url
where plan.place <= getvariable('first')::bigint or plan.place = getvariable('beyond')::bigint
order by plan.place
