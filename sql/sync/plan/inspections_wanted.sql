-- The pages that have a reason, or were never inspected.
from inspections_due
where reason <> 'oldest' or report_fetched_at is null
