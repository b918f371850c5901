-- The snapshots that hold the newest reports of a range of pages. View `page_state`: one row per page.
select distinct report_snapshot_id
from page_state
where
  website_id = $website::varchar
  and url between $from_url::varchar and $to_url::varchar
  and report_snapshot_id is not null
