-- How many pages changed from which coverage state to which, in the 30 days up to the newest snapshot.
with period as (select max(snapshot_date) - interval 30 day as since, max(snapshot_date) as until from snapshots)
select
  page_changes.website_id as website_id,
  from_value as from_state,
  to_value as to_state,
  count(distinct page_changes.url) as pages,
  count(distinct case
    when coalesce(index_coverage_state, '') = coalesce(to_value, '') then page_changes.url
  end) as still,
  count(*) as changes,
  max(observed_at) as last_observed_at
from page_changes
cross join period
left join page_state on page_state.website_id = page_changes.website_id and page_state.url = page_changes.url
where change = 'coverage_state' and snapshot_date between since and until
group by page_changes.website_id, from_value, to_value
order by changes desc, page_changes.website_id, from_state, to_state
