-- The listed entries that are not plain: rejects, and entries that lack a field. Most nights there are hardly any, and
-- all queries about them share one reading of the journal.
create or replace temp table odd_entries as
select kind, url, position, listed_at, issues, payload, absent
from listed_entries
where getvariable('has_odd_entries')::boolean and (kind = 'reject' or absent is not null)
