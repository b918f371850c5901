select
  listed_at,
  unnest(entry),
  coalesce(canonicals_match_present, true) as canonicals_match_present,
  extra::json::varchar as extra
from listed_entries
where kind = 'entry'
