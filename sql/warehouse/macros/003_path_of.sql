-- The path of a URL, without its host, parameters and fragment. One pattern for the whole would take three times as
-- long.
create or replace macro path_of(url) as
  regexp_replace(split_part(split_part(substr(url, strpos(url, '://') + 3), '#', 1), '?', 1), '^[^/]+', '')
