-- The pages that have a reason, or were never inspected, and that the plan of `max_reports` pages leaves out.
select url
from inspections_due
anti join (from chosen_inspections order by turn, url limit getvariable('max_reports')::bigint) using (url)
where is_due and (reason <> 'oldest' or report_fetched_at is null)
