-- How many pages were inspected through each property on the day that began at `day_began`.
select (extra ->> 'siteUrl') as property, count(*)::integer as inspections
from recent_reports
where fetched_at >= getvariable('day_began') and property is not null
group by property
