-- Pages that a listing holds only in quarantine and that have been listed before.
select distinct url
from read_parquet($rejected, union_by_name = true, hive_partitioning = false)
where
  source = 'coverage'
  and url in (select url from page_state where website_id = $website::varchar and listed_at is not null)
  and url not in (select url from read_parquet($coverage, union_by_name = true, hive_partitioning = false))
