-- The inspections of simulated websites. A line without a reason says how many pages a website has on its last night.
create or replace temp table inspected as
select *, getvariable('first_date')::date + night as snapshot_date
from read_csv(
  getvariable('inspected_file'),
  columns = {website_id: 'VARCHAR', page: 'INTEGER', night: 'INTEGER', reason: 'VARCHAR', is_indexed: 'BOOLEAN'}
);
insert into url_reports by name
select
  website_id,
  page::varchar as url,
  snapshot_date::varchar as snapshot_id,
  snapshot_date,
  reason,
  if(is_indexed, 'Indexed', 'Not Indexed') as index_summary
from inspected
where reason is not null
