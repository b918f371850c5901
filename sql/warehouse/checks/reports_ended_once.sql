-- No planned report ended twice in one commit.
select website_id, snapshot_id, format('the report of {} ended {} times', url, count(*)) as problem
from (
  select website_id, snapshot_id, url from url_reports
  union all
  select website_id, snapshot_id, url from report_failures
  union all
  select website_id, snapshot_id, url from rejected_records where source = 'url_report'
)
group by website_id, snapshot_id, url
having count(*) > 1
