-- Stands in for the listings: what they hold is the pages' states.
create or replace view coverage as
select
  snapshot_id,
  snapshot_date,
  website_id,
  url,
  states[snapshot_date - getvariable('first_date')::date - listed_from + 1] as index_coverage_state,
  if(index_coverage_state = 'Submitted and indexed', 'Indexed', 'Not Indexed') as index_summary
from joined_pages
join snapshots using (website_id)
where snapshot_date >= getvariable('first_date')::date + listed_from
