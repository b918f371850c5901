-- Stands in for what the planner takes of a listing and of the state before it.
create or replace view compared as
select
  url,
  true as present,
  url as spelling,
  url as was_spelling,
  coalesce(left_on <= getvariable('night'), false) as unnamed,
  if(left_on < getvariable('night'), moment_of(left_on), null) as was_unnamed_since,
  wanted as was_report_wanted,
  born_on > 0 and born_on = getvariable('night') as is_new,
  moment_of(inspected_on) as was_report_fetched_at,
  if(is_new, null, moment_of(born_on)) as was_first_seen_at,
  if(found is null, null, if(found, 'Indexed', 'Not Indexed')) as was_index_summary,
  null::varchar as was_index_coverage_state,
  true as was_is_confirmed,
  0 as was_consecutive_failures
from world_now
