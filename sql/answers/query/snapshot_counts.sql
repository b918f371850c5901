-- How many snapshots each website has, and nights with a complete listing; the most first.
select
  count(*)::integer as snapshots,
  (count(distinct snapshot_date) filter (listing_status = 'complete'))::integer as listings
from snapshots
group by website_id
order by listings desc, snapshots desc
