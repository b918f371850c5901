-- When the newest snapshot of a website started.
create or replace macro newest_at(website) as (select arg_max(snapshot_at, snapshot_id) from snapshots where website_id = website)
