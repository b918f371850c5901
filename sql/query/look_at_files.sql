-- Opens each of some files of a table, and reads no row.
select 1 from read_parquet($files, union_by_name = true, hive_partitioning = false) limit 0
