-- How many pages were inspected through each property on this day of California.
select property, sum(inspections)::integer as inspections
from (select unnest(inspections::json::struct(property varchar, "day" date, inspections integer)[], recursive := true) from recent_snapshots)
where "day" = getvariable('today')::date
group by property
