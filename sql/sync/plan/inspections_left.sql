-- How many inspections the pages below each property may still take on the day that began at `day_began`.
create or replace temp view inspections_left as
select property, greatest(per_day - coalesce(inspections, 0), 0) as inspections_left
from (select unnest(getvariable('quotas')::json::struct(property varchar, per_day bigint)[], recursive := true))
left join (
  select property_of(url) as property, count(*) as inspections
  from (select url, fetched_at as "at" from recent_reports union all select url, last_failure_at from previous_state)
  where "at" >= getvariable('day_began')
  group by 1
) using (property)
