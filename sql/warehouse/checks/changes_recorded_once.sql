-- A change is recorded once per page and commit.
select website_id, snapshot_id, format('{} of {} is recorded {} times', change, url, count(*)) as problem
from page_changes
group by website_id, snapshot_id, url, change
having count(*) > 1
