select
  (select count(*)::integer from now_coverage) as coverage_replayed,
  (select count(*)::integer from now_url_reports) as url_reports_replayed
