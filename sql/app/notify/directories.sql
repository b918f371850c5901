-- Indexed pages of each directory in a listing (`$snapshot`) and in the one before it. Files `$summaries` of table
-- `coverage_summary`: one row per commit, directory and state.
with counted as (
  select
    website_id,
    directory,
    bool_or(snapshot_id = $snapshot) as in_now,
    bool_or(snapshot_id <> $snapshot) as in_before,
    coalesce(sum(pages) filter (index_summary = 'Indexed' and snapshot_id = $snapshot), 0) as indexed_now,
    coalesce(sum(pages) filter (index_summary = 'Indexed' and snapshot_id <> $snapshot), 0) as indexed_before
  from read_parquet($summaries, union_by_name = true, hive_partitioning = false)
  group by website_id, directory
),
named as (
  select *, shown_directory(website_id, directory, in_now, in_before) as shown_as
  from counted
)
select shown_as as directory, sum(indexed_now)::integer as "now", sum(indexed_before)::integer as before
from named
group by shown_as
order by directory
