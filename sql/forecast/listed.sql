-- The entries of a listing as walks came upon them.
create or replace temp view listed as
select walk, url
from read_json(
  getvariable('listed_file')::varchar,
  format = 'newline_delimited',
  columns = {walk: 'INTEGER', url: 'VARCHAR'}
)
