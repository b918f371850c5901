-- The report of a page in a snapshot, the newest if there are several; none if the snapshot is null.
select * replace (sitemaps[:20] as sitemaps)
from url_reports
where
  website_id = $website::varchar
  and snapshot_id = $snapshot::varchar
  and url = $url::varchar
order by fetched_at desc, snapshot_id desc
limit 1
