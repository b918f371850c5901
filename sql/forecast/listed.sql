-- The entries of a listing in the order in which walks found them.
create or replace temp view listed as
select walk, url
from read_json(
  getvariable('listed_file')::varchar,
  format = 'newline_delimited',
  columns = {walk: 'INTEGER', url: 'VARCHAR'}
)
