-- The candidates that were not inspected on this day.
create or replace temp view inspections_due as
select *, property_of(url) as property
from candidates
where not never_fetched(url) and coalesce(report_fetched_at < getvariable('day_began'), true)
