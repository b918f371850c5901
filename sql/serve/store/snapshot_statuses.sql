-- Whether the listing and the reports of the given snapshots are complete.
select snapshot_id, listing_status, reports_status
from read_parquet($files, union_by_name = true, hive_partitioning = false)
