-- The number of rows in the Parquet files `$files`, and the number of nulls in each of their columns; null if their
-- footers do not say. For a list, the column is its elements.
select
  file_name as file,
  path_in_schema as "column",
  sum(row_group_num_rows) as rows,
  case when count(stats_null_count) = count(*) then sum(stats_null_count) end as nulls
from parquet_metadata($files)
group by all
