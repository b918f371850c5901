select
  listed_at,
  unnest(entry),
  coalesce(canonicals_match_present, true) as canonicals_match_present,
  extra::json::varchar as extra,
  null::timestamptz as inspected_at
from listed_entries
where kind = 'entry'
