-- The path of a URL, without its host, parameters and fragment. A pattern for the whole of it takes three times as long.
create or replace macro path_of(url) as
  regexp_replace(split_part(split_part(substr(url, strpos(url, '://') + 3), '#', 1), '?', 1), '^[^/]+', '')
