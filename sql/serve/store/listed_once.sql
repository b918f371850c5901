-- The rows that the only commit of a listing holds for a range of URLs.
select *
from read_parquet($coverage, union_by_name = true, hive_partitioning = false)
where url >= $from_url::varchar and url < $to_url::varchar
