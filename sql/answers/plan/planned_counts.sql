-- How many monitored pages of a website there are for each reason, and how many of them the plan wants, leaves out, or
-- puts last because their reports keep failing.
select
  reason,
  count(*)::integer as pages,
  count(*) filter (url in (select url from report_plan))::integer as wanted,
  count(*) filter (never_fetched(url))::integer as never_fetched,
  count(*) filter (keeps_failing)::integer as keep_failing
from candidates
group by reason
