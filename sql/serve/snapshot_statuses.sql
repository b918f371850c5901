-- How complete some snapshots are.
select snapshot_id, listing_status, reports_status
from read_parquet($files, union_by_name = true, hive_partitioning = false)
