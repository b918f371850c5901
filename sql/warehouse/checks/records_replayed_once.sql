-- No page is twice in the listing or in the reports of one snapshot, replayed rows included.
select website_id, snapshot_id, format('{} stands {} times in {}', url, count(*), source) as problem
from (
  select website_id, snapshot_id, url, 'coverage' as source from coverage
  union all
  select website_id, snapshot_id, url, 'url_reports' from url_reports
)
where snapshot_id in (select snapshot_id from replays)
group by website_id, snapshot_id, source, url
having count(*) > 1
