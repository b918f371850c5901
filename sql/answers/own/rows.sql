-- The rows of a file of the user's about pages, `given`: the key of a URL, or a pattern, and what they say, without what
-- they leave empty.
select
  place,
  url_key(trim(url)) as key,
  trim(pattern) as pattern,
  map_from_entries(list_filter(said, lambda one: one.value <> '')) as own
from given
