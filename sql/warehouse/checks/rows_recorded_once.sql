-- One commit lists no page twice, in coverage or in a quarantined entry of its own, and ends no planned report
-- twice.
select website_id, snapshot_id, format('{} {} {} times', url, what, count(*)) as problem
from (
  select website_id, snapshot_id, url, 'is listed' as what from coverage
  union all
  select website_id, snapshot_id, url, if(source = 'coverage', 'is listed', 'has a report')
  from rejected_records
  where source = 'url_report' or url is not null
  union all
  select website_id, snapshot_id, url, 'has a report' from url_reports
  union all
  select website_id, snapshot_id, url, 'has a report' from report_failures
)
group by website_id, snapshot_id, url, what
having count(*) > 1
