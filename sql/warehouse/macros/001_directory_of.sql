-- The first directory of a URL's path, slashes included; `/` for pages at the root.
create or replace macro directory_of(url) as
  coalesce(nullif(regexp_extract(url, '^[^:]+://[^/?#]+(/[^/?#]*/)', 1), ''), '/')
