-- What is known of the listed pages before the inspections of this night, as `estimated_shares` needs it: how many were
-- inspected on this day already, and how many of them are indexed; how many of the others count as indexed and as not
-- indexed, and of how many that may be inspected nothing is known. And how many that an inspection found not indexed search
-- still showed a week later.
select
  (select count(*) from compared where present)::integer as pages,
  count(*) filter (not is_due)::integer as today,
  count(*) filter (not is_due and counts_as = 'shown')::integer as today_indexed,
  count(*) filter (is_due and counts_as = 'shown')::integer as shown,
  count(*) filter (is_due and counts_as = 'ended')::integer as ended,
  count(*) filter (is_due and counts_as is null)::integer as others,
  count(*) filter (is_contradicted)::integer as contradicted
from inspections_due
