-- A website's listing: the newest entry of each page in the commits that make up the listing or, if that entry is in
-- quarantine, the page's last one before.
with newest as (
  select *
  from read_parquet($coverage, union_by_name = true, hive_partitioning = false)
  where url >= $from_url::varchar and url < $to_url::varchar
  qualify row_number() over (partition by url order by snapshot_id desc) = 1
),
in_quarantine as (
  select distinct url
  from read_parquet($rejected, union_by_name = true, hive_partitioning = false)
  where source = 'coverage' and url is not null
),
before_quarantine as (
  select earlier.*
  from read_parquet($earlier, union_by_name = true, hive_partitioning = false) as earlier
  semi join in_quarantine using (url)
  anti join newest using (url)
  where url >= $from_url::varchar and url < $to_url::varchar
  qualify row_number() over (partition by url order by snapshot_id desc) = 1
)
select * from newest
union all by name
select * from before_quarantine
