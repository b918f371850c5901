-- How many pages the plan treats alike, by the age of their reports in whole days; null: no report yet. View
-- `candidates`: one row per monitored page.
select
  keeps_failing,
  goes_first(url) as goes_first,
  never_fetched(url) as is_never_fetched,
  reason,
  reason <> 'oldest' or refresh_due(url, report_fetched_at) as is_wanted,
  days_between(report_fetched_at, getvariable('planned_at'))::integer as age_days,
  count(*)::integer as pages
from candidates
group by all
order by all
