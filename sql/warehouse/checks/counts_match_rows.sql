-- The counts of a snapshot are those of its rows: every listed entry is in exactly one of coverage and
-- rejected_records, every planned report in exactly one of url_reports, report_failures and rejected_records.
with ended as (
  select snapshot_id, 'coverage' as how, count(*) as rows from coverage group by all
  union all
  select snapshot_id, 'url_reports', count(*) from url_reports group by all
  union all
  select distinct snapshot_id, table_name, rows from tombstones where table_name in ('coverage', 'url_reports')
  union all
  select snapshot_id, outcome, count(*) from report_failures group by all
  union all
  select snapshot_id, 'rejected ' || source, count(*) from rejected_records group by all
),
compared as (
  select
    snapshots.*,
    map {
      'coverage': pages_listed - pages_rejected, 'rejected coverage': pages_rejected, 'url_reports': reports_fetched,
      'missing': reports_missing, 'failed': reports_failed, 'rejected url_report': reports_rejected,
      'unconfirmed': coalesce(reports_unconfirmed, 0)
    } as counts,
    (select map(list(how), list(rows)) from ended where ended.snapshot_id = snapshots.snapshot_id) as found
  from snapshots
)
select
  website_id,
  snapshot_id,
  format('{} pages listed and {} reports planned: {}, but its rows are {}', pages_listed, reports_planned, counts, found)
    as problem
from compared
where
  reports_planned <> reports_fetched + reports_missing + reports_failed + reports_rejected + coalesce(reports_unconfirmed, 0)
  or len(list_filter(map_entries(counts), lambda one: one.value <> coalesce(found[one.key], 0))) > 0
