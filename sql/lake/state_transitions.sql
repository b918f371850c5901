-- How many pages changed from which coverage state to which, in the 30 days up to the newest snapshot.
with period as (select max(snapshot_date) - interval 30 day as since, max(snapshot_date) as until from snapshots)
select
  website_id,
  from_value as from_state,
  to_value as to_state,
  count(distinct url) as pages,
  count(*) as changes,
  floor(count(*) / sum(count(*)) over (partition by website_id, from_value) * 10000 + 0.5) / 10000 as share_of_from,
  max(observed_at) as last_observed_at
from page_changes
cross join period
where change = 'coverage_state' and snapshot_date between since and until
group by website_id, from_value, to_value
order by changes desc, website_id, from_state, to_state
