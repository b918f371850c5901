-- Replaces read_parquet while views are created: a view is bound when it is created, and the files that it will read
-- may be on another machine. The name of the first file, the empty one of a table, says which columns they have.
create temp macro read_parquet(files, union_by_name := false, hive_partitioning := false, filename := false) as table
select * from query_table('columns_of.' || parse_filename(files[1], true))
