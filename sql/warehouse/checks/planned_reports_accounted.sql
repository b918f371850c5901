-- Every planned report is in exactly one of url_reports, report_failures and rejected_records.
select
  website_id,
  snapshot_id,
  format(
    '{} reports planned, but {} fetched, {} missing, {} failed and {} quarantined',
    reports_planned, fetched, missing, failed, rejected
  ) as problem
from (
  select
    snapshots.*,
    coalesce(reports.rows, 0) as fetched,
    coalesce(failures.missing, 0) as missing,
    coalesce(failures.failed, 0) as failed,
    coalesce(rejects.rows, 0) as rejected
  from snapshots
  left join (
    select snapshot_id, count(*) as rows from url_reports group by snapshot_id
    union all
    select distinct snapshot_id, rows from tombstones where table_name = 'url_reports'
  ) as reports
    on reports.snapshot_id = snapshots.snapshot_id
  left join (
    select
      snapshot_id,
      count(*) filter (outcome = 'missing') as missing,
      count(*) filter (outcome = 'failed') as failed
    from report_failures
    group by snapshot_id
  ) as failures
    on failures.snapshot_id = snapshots.snapshot_id
  left join (
    select snapshot_id, count(*) as rows from rejected_records where source = 'url_report' group by snapshot_id
  ) as rejects
    on rejects.snapshot_id = snapshots.snapshot_id
)
where
  reports_planned <> fetched + missing + failed + rejected
  or (reports_fetched, reports_missing, reports_failed, reports_rejected) <> (fetched, missing, failed, rejected)
