-- Every listed entry is in exactly one of coverage and rejected_records.
select
  website_id,
  snapshot_id,
  format('{} pages listed, but {} in coverage and {} quarantined', pages_listed, accepted, rejected) as problem
from (
  select
    snapshots.*,
    coalesce(coverage_rows.rows, 0) as accepted,
    coalesce(rejected_rows.rows, 0) as rejected
  from snapshots
  left join (
    select snapshot_id, count(*) as rows from coverage group by snapshot_id
    union all
    select distinct snapshot_id, rows from tombstones where table_name = 'coverage'
  ) as coverage_rows
    on coverage_rows.snapshot_id = snapshots.snapshot_id
  left join (
    select snapshot_id, count(*) as rows from rejected_records where source = 'coverage' group by snapshot_id
  ) as rejected_rows
    on rejected_rows.snapshot_id = snapshots.snapshot_id
)
where pages_listed <> accepted + rejected or pages_rejected <> rejected
