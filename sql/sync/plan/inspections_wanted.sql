-- How many pages have a reason, or were never inspected.
select count(*) as wanted
from inspections_due
where reason <> 'oldest' or report_fetched_at is null
