-- How many pages of a website are no longer listed in its last complete listing of each date.
select snapshot_date, gone::integer as gone
from (select website_id, snapshot_date, snapshot_id from daily_listings where website_id = $website::varchar) as listing
asof join (
  select
    website_id,
    snapshot_id,
    sum(count_if(not is_listed(status)) - count_if(was_status is not null and not is_listed(was_status)))
      over (order by snapshot_id) as gone
  from page_versions
  where website_id = $website::varchar
  group by website_id, snapshot_id
) as known on listing.website_id = known.website_id and listing.snapshot_id >= known.snapshot_id
where snapshot_date between $since::date and $until::date
order by snapshot_date
