-- Replaces read_parquet while views are created: a view is bound when it is created, and the files that it will read
-- may be on another machine. The folders of the pattern say which table it is: `…/coverage/*/*/*.parquet` or
-- `…/state/*/*.parquet`.
create temp macro read_parquet(files, union_by_name := false, hive_partitioning := false, filename := false) as table
select * from query_table(
  'columns_of.' || if(parse_path(files[1])[-3] = 'state', 'page_state', parse_path(files[1])[-4])
)
