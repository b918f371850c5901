-- The newest snapshot of each website. View: `snapshots`.
select website_id, max_by(website_name, snapshot_id) as website_name, max(snapshot_id) as snapshot_id
from snapshots
group by website_id
order by website_id
