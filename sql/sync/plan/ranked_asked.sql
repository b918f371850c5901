-- The pages that the user asked about, in that order.
create or replace temp table ranked_inspections as
select
  url,
  scopes_of(url, getvariable('scopes')::varchar[]) as path,
  'asked' as reason,
  if(present, spelling, was_spelling) as spelling,
  null as reason_rank,
  place as turn_rank
from (
  select
    unnest(getvariable('asked')::varchar[]) as url,
    generate_subscripts(getvariable('asked')::varchar[], 1) as place
)
left join compared using (url)
