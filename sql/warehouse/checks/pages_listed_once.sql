-- No page is twice in the coverage of one commit, nor both there and in a quarantined entry of its own.
select website_id, snapshot_id, format('{} is listed {} times', url, count(*)) as problem
from (
  select website_id, snapshot_id, url from coverage
  union all
  select website_id, snapshot_id, url
  from rejected_records
  where source = 'coverage' and url is not null
)
group by website_id, snapshot_id, url
having count(*) > 1
