-- The rows of the files in the variable `files_to_sum`, and in `summed_file` the file of each.
select *
from read_parquet(
  getvariable('files_to_sum'), union_by_name = true, hive_partitioning = false, filename = 'summed_file'
)
