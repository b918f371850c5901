-- What a website is called in its newest snapshot. View `snapshots`: the markers.
select website_name
from snapshots
where website_id = $website::varchar
order by snapshot_at desc, snapshot_id desc
limit 1
