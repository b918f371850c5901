select
  listed_at,
  unnest(entry),
  coalesce(canonicals_match_present, true) as canonicals_match_present,
  extra::json::varchar as extra,
  null::timestamptz as inspected_at,
  null::timestamptz as last_named_at,
  null::varchar[] as named_by,
  null::varchar as spelling
from listed_entries
where kind = 'entry'
