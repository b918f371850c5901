-- The pages to inspect.
select url, reason, spelling
from chosen_inspections
order by turn, url
limit getvariable('max_reports')::bigint
