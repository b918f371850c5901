-- How many pages the samples of this night stand for, as `estimated_shares` needs it; and how many that an inspection found
-- not indexed search still showed a week later.
select
  count(*) filter (counts_as is null)::integer as others,
  count(counts_as)::integer as shown,
  count(*) filter (counts_as = 'shown')::integer as shown_indexed,
  count(*) filter (is_contradicted)::integer as contradicted
from inspections_due
