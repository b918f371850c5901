-- The directories that search shows fewer pages of, as of a date: their pages whose silence is unlikely, when these were last
-- shown, and the clicks that they had in the 28 days up to then; those with the most pages first.
select
  directory_of(url) as directory,
  count(*)::integer as pages,
  min(last_date) as first_shown_last,
  max(last_date) as last_shown,
  sum(clicks)::integer as clicks
from search_silences($website::varchar, $until::date, '-infinity'::date, 2)
where is_silent(days_shown, days, silent_days)
group by directory
order by pages desc, clicks desc, directory
limit 8
