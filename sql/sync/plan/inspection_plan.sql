-- The pages to inspect.
select url, chosen_inspections.reason, chosen_inspections.spelling, history
from chosen_inspections
join inspections_due using (url)
order by turn, url
limit getvariable('max_reports')::bigint
