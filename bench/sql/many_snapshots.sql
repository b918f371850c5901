-- The rows of `snapshots` of many nights, each a copy of the one in a file.
select
  model.* replace (
    nights.website as website_id,
    nights.date as snapshot_date,
    nights.snapshot_id as snapshot_id,
    nights.run_id as run_id,
    nights.began_at as snapshot_at,
    nights.began_at + interval 1 hour as finished_at,
    getvariable('files') as files
  ),
  nights.website as website,
  nights.date as date,
  nights.snapshot_id as id
from many_nights as nights, read_parquet(getvariable('model'), hive_partitioning = false) as model
