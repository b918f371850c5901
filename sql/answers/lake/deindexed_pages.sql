-- Pages that fell out of the index in the seven dates up to the newest snapshot, newest first: indexed in the last complete
-- listing before them (or else in the first), and not in their last one. `times`: how often each left the index.
with period as (select max(snapshot_date) - interval 6 day as since from snapshots),
pairs as (
  select
    website_id as paired_website,
    max(snapshot_id) as listing_id,
    case
      when max(case when snapshot_date < since then 1 else 0 end) = 1
        then max(case when snapshot_date < since then snapshot_id else '' end)
      else min(snapshot_id)
    end as before_id
  from snapshots
  cross join period
  where listing_status = 'complete'
  group by website_id
),
steps as (
  select
    website_id,
    url,
    observed_at,
    snapshot_date,
    case when to_value = 'Indexed' then 1 else -1 end as step
  from page_changes
  join pairs on pairs.paired_website = page_changes.website_id
  where
    snapshot_id > before_id
    and snapshot_id <= listing_id
    and (
      change = 'indexed'
      or (change in ('appeared', 'first_data') and to_value = 'Indexed')
      or (change in ('deindexed', 'data_lost', 'disappeared') and from_value = 'Indexed')
    )
),
fallen as (
  select
    website_id as fallen_website,
    url as fallen_url,
    max(observed_at) as left_at,
    max(snapshot_date) as left_on,
    sum(case when step < 0 then 1 else 0 end) as falls
  from steps
  group by website_id, url
  having sum(step) < 0
)
select
  fallen_website as website_id,
  fallen_url as url,
  left_at as observed_at,
  left_on as snapshot_date,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  case when pages.unlisted_since is null then true else false end as is_monitored_now,
  falls as times
from fallen
left join page_state as pages on pages.website_id = fallen_website and pages.url = fallen_url
order by observed_at desc, website_id, url
