-- The pages that have a reason, or of which nothing is known: neither an inspection nor search showed them.
from inspections_due
where is_due and (reason <> 'oldest' or (report_fetched_at is null and not is_shown))
