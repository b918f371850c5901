-- How many rows the Parquet files `$files` hold, and how many of each of their columns are null; null: their footers do
-- not tell. Of a list its elements are a column.
select
  file_name as file,
  path_in_schema as "column",
  sum(row_group_num_rows) as rows,
  case when count(stats_null_count) = count(*) then sum(stats_null_count) end as nulls
from parquet_metadata($files)
group by all
