-- Which of the given pages a commit lists.
select url
from read_parquet($coverage, union_by_name = true, hive_partitioning = false)
where url in (select unnest($urls))
