-- When the last entry of a snapshot was listed, in milliseconds since 1970; null if it lists no page.
select epoch_ms(max(listed_at)) as listed_at
from read_parquet($coverage, union_by_name = true, hive_partitioning = false)
