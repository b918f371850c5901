-- The inspections of simulated websites.
insert into url_reports by name
select
  website_id,
  page::varchar as url,
  night::varchar as snapshot_id,
  getvariable('first_date')::date + night as snapshot_date,
  reason,
  if(is_indexed, 'Indexed', 'Not Indexed') as index_summary
from read_csv(
  getvariable('inspected_file'),
  columns = {website_id: 'VARCHAR', page: 'INTEGER', night: 'INTEGER', reason: 'VARCHAR', is_indexed: 'BOOLEAN'}
)
