select
  (listed.accepted + listed.rejected)::integer as pages_listed,
  listed.rejected::integer as pages_rejected,
  (reports.fetched + reports.missing + reports.failed + reports.rejected)::integer as reports_planned,
  reports.fetched::integer as reports_fetched,
  reports.missing::integer as reports_missing,
  reports.failed::integer as reports_failed,
  reports.rejected::integer as reports_rejected
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
) as reports
