-- Of the listing only what is no plain entry: rejects, and entries that lack a field. Most nights that is next to
-- nothing, and the journal is read once for all that is asked of it.
create or replace temp table odd_entries as
select kind, url, position, listed_at, issues, payload, absent
from listed_entries
where getvariable('has_odd_entries')::boolean and (kind = 'reject' or absent is not null)
