-- The newest snapshot of each website, and how many there are. View `snapshots`: the markers.
select
  *,
  (count(*) over (partition by website_id))::integer as snapshots,
  floor(epoch($checked_at::timestamptz) - epoch(snapshot_at))::integer as age_seconds
from snapshots
qualify row_number() over (partition by website_id order by snapshot_id desc) = 1
order by website_id
