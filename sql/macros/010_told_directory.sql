-- What a directory is told as where two listings are compared: one that only one of both has by its name may be among
-- the `(other)` of the other one. To be asked over one row per website and directory.
create or replace macro told_directory(website_id, directory, in_now, in_then) as if(
  (not in_now and bool_or(in_now and directory = '(other)') over (partition by website_id))
  or (not in_then and bool_or(in_then and directory = '(other)') over (partition by website_id)),
  '(other)',
  directory
)
