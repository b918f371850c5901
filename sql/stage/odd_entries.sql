-- Of the listing only what is no plain entry: rejects, and entries that lack a field, have one more or a new value. Most
-- nights that is next to nothing, and the journal is read once for all that is asked of it.
create or replace temp table odd_entries as
select kind, url, position, listed_at, issues, payload, absent, extra, entry
from listed_entries
where
  kind = 'reject'
  or absent is not null
  or extra is not null
  or not list_contains(getvariable('known_coverage'), 'index_summary=' || entry.index_summary)
  or not list_contains(getvariable('known_coverage'), 'index_coverage_state=' || entry.index_coverage_state)
