-- Opens each of the given files of a table without reading a row.
select 1 from read_parquet($files, union_by_name = true, hive_partitioning = false) limit 0
