-- Stands in for read_parquet while views are made: a view is bound when it is made, and the files that it will read may
-- lie on another machine. The name of the first file, the empty one of a table, says which columns they have.
create temp macro read_parquet(files, union_by_name := false, hive_partitioning := false, filename := false) as table
select * from query_table('columns_of.' || parse_filename(files[1], true))
