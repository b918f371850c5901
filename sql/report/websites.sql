-- The websites of the warehouse up to a date, and the span of their snapshots. View `snapshots`: the markers.
select
  website_id,
  arg_max(website_name, snapshot_at) as website_name,
  min(snapshot_date)::varchar as first_date,
  max(snapshot_date)::varchar as last_date,
  count(*)::integer as snapshots
from snapshots
where snapshot_date <= $until::date
group by website_id
order by website_name, website_id
