-- How many snapshots each website has, the most first.
select count(*)::integer as snapshots
from snapshots
group by website_id
order by snapshots desc
