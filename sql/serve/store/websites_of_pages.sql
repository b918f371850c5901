-- The websites that know the given pages, which are all in one range of URLs, and the snapshots that hold their newest
-- reports.
select website_id, url, report_snapshot_id, is_listed
from pages
where
  url >= $from_url::varchar
  and url < $to_url::varchar
  and url in (select unnest($urls))
