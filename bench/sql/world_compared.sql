-- Stands in for what the planner takes of a listing and of the state before it.
create or replace view compared as
select
  url,
  true as present,
  url as spelling,
  url as was_spelling,
  false as unnamed,
  null::timestamptz as was_unnamed_since,
  if(is_wanted, 'changed', null) as was_report_wanted,
  false as is_new,
  moment_of(inspected_on) as was_report_fetched_at,
  moment_of(0) as was_first_seen_at,
  if(found is null, null, if(found, 'Indexed', 'Not Indexed')) as was_index_summary,
  0 as was_consecutive_failures
from world_pages
