-- The days of search analytics that were committed for good: they need not be fetched again.
select "date"::varchar as "date", "type"
from search_dates
where is_final and snapshot_id <> getvariable('snapshot_id')
