-- The pages that the user asked about. Those that are beyond the day's inspections are left when their turn comes.
select
  url,
  'asked' as reason,
  if(present, spelling, was_spelling) as spelling,
  history_of(was_index_summary, was_index_coverage_state, false) as history
from (select unnest(getvariable('asked')::varchar[]) as url, generate_subscripts(getvariable('asked')::varchar[], 1) as place)
left join compared using (url)
order by place
limit getvariable('max_reports')::bigint
