-- The pages to inspect; and for the samples what each counts as, and where it stands in the random order.
select url, chosen.reason, chosen.spelling, history, counts_as, draw
from chosen_inspections as chosen
join inspections_due using (url)
join (select url, draw from ranked_inspections) using (url)
order by turn, url
limit getvariable('max_reports')::bigint
