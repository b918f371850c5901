-- The rows that the commits of a listing hold for the given pages, which are all in one range of URLs.
select *
from read_parquet($coverage, union_by_name = true, hive_partitioning = false)
where
  url >= $from_url::varchar
  and url < $to_url::varchar
  and url in (select unnest($urls))
