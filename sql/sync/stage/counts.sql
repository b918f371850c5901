select
  (listed.accepted + listed.rejected)::integer as pages_listed,
  listed.rejected::integer as pages_rejected,
  (reports.fetched + reports.missing + reports.failed + reports.rejected)::integer as reports_planned,
  reports.fetched::integer as reports_fetched,
  reports.missing::integer as reports_missing,
  reports.failed::integer as reports_failed,
  reports.rejected::integer as reports_rejected,
  coalesce(reasons.counts, '{}') as reports_by_reason
from (
  select
    (select count(*) from now_coverage) as accepted,
    (select count(*) from now_rejected_records where source = 'coverage') as rejected
) as listed, (
  select
    (select count(*) from now_url_reports) as fetched,
    (select count(*) from now_report_failures where outcome = 'missing') as missing,
    (select count(*) from now_report_failures where outcome = 'failed') as failed,
    (select count(*) from now_rejected_records where source = 'url_report') as rejected
) as reports, (
  -- In the plan's order, so that the same reports give the same text.
  select
    to_json(
      map_from_entries(
        list(
          (reason, planned)
          order by list_position(getvariable('reasons'), reason), reason
        )
      )
    )::varchar as counts
  from (
    select reason, count(*) as planned
    from (
      select reason from now_url_reports
      union all
      select reason from now_report_failures
      union all
      select reason from now_rejected_records where source = 'url_report'
    )
    group by reason
  )
) as reasons
