-- The rows of a table, each with the commit that it belongs to. The columns are added after sorting, so that sorting
-- does not have to move them.
select
  getvariable('snapshot_id')::varchar as snapshot_id,
  getvariable('website_id')::varchar as website_id,
  getvariable('snapshot_at')::timestamptz as snapshot_at,
  getvariable('snapshot_date')::date as snapshot_date,
  *
from own_rows
