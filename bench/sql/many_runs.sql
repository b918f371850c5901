-- The rows of `runs` of many nights, each a copy of the one in a file.
select
  model.* replace (
    nights.website as website_id,
    nights.date as snapshot_date,
    nights.snapshot_id as snapshot_id,
    nights.run_id as run_id,
    nights.began_at as started_at,
    nights.began_at + interval 1 hour as finished_at
  ),
  nights.website as website,
  nights.date as date,
  nights.run_id as id
from many_nights as nights, read_parquet(getvariable('model'), hive_partitioning = false) as model
