-- How many pages nothing has named since a snapshot. View `page_state`: one row per page.
select count(*)::integer as pages
from page_state
join snapshots on snapshots.website_id = page_state.website_id and snapshot_at = unnamed_since
where snapshot_id = $snapshot and unlisted_since is null
