-- The name under which a directory is shown when two listings are compared: `(other)` if only one listing names it and
-- it may be part of the other one's `(other)`. For queries with one row per website and directory.
create or replace macro shown_directory(website_id, directory, in_now, in_then) as if(
  (not in_now and bool_or(in_now and directory = '(other)') over (partition by website_id))
  or (not in_then and bool_or(in_then and directory = '(other)') over (partition by website_id)),
  '(other)',
  directory
)
