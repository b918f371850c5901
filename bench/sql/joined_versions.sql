-- Stands in for the versions of pages: their first state, and each night on which another one follows it.
create or replace view page_versions as
select
  website_id,
  url,
  printf('%s-%03d', website_id, night) as snapshot_id,
  getvariable('first_date')::date + night as snapshot_date,
  if(index_coverage_state = 'Submitted and indexed', 'indexed', 'not_indexed') as status,
  if(was_index_coverage_state = 'Submitted and indexed', 'indexed', if(nth > 1, 'not_indexed', null)) as was_status,
  index_coverage_state,
  was_index_coverage_state,
  []::varchar[] as changes
from (
  select *, listed_from + nth - 1 as night, states[nth] as index_coverage_state, states[nth - 1] as was_index_coverage_state
  from (select *, unnest(range(1, len(states) + 1))::integer as nth from joined_pages)
)
where index_coverage_state is distinct from was_index_coverage_state
