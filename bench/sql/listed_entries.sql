-- Stands in for the view that stage/listed_entries makes of a journal.
create or replace temp view listed_entries as
select
  'entry' as kind,
  position,
  url,
  listed_at,
  canonicals_match_present,
  null::varchar[] as absent,
  null::varchar as extra,
  null::varchar as issues,
  null::varchar as payload,
  entry
from night_listing
