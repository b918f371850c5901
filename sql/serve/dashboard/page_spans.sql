-- Whether a page was indexed, in spans of dates up to the newest snapshot, oldest first. View `page_changes`: one row per
-- change; `page_state`: one row per page; `snapshots`: the markers.
with seen as (
  select
    first_seen_at::date as first_date,
    case
      when unlisted_since is not null then 'gone'
      when index_summary is null then 'no-data'
      when index_summary = 'Indexed' then 'indexed'
      else 'not-indexed'
    end as state_now
  from page_state
  where website_id = $website::varchar and url = $url::varchar
),
changed as (
  select
    snapshot_date,
    -- Among several changes in one night, one of the index status counts before a coverage state.
    arg_max(change, change <> 'coverage_state') as change,
    arg_max(from_value, change <> 'coverage_state') as from_value,
    arg_max(to_value, change <> 'coverage_state') as to_value
  from page_changes
  where
    website_id = $website::varchar
    and url = $url::varchar
    and (
      change in ('indexed', 'deindexed', 'data_lost', 'appeared', 'disappeared')
      or (change = 'coverage_state' and from_value is null)
    )
  group by snapshot_date
),
turned as (
  select
    snapshot_date,
    case
      when change = 'indexed' or (change = 'appeared' and to_value = 'Indexed') then 'indexed'
      when change = 'disappeared' then 'gone'
      when change = 'data_lost' or (change = 'appeared' and to_value is null) then 'no-data'
      else 'not-indexed'
    end as state,
    case
      when change = 'appeared' then null
      when change in ('deindexed', 'data_lost') or from_value = 'Indexed' then 'indexed'
      when from_value is null then 'no-data'
      else 'not-indexed'
    end as state_before
  from changed
),
begun as (
  select snapshot_date as since, state
  from turned
  union all
  -- Before its first change, the page was in the state that it left; without changes, in its current state.
  select first_date, coalesce((select arg_min(state_before, snapshot_date) from turned), state_now)
  from seen
  where first_date < coalesce((select min(snapshot_date) from turned), 'infinity'::date)
)
select
  since::varchar as since,
  coalesce(
    lead(since) over (order by since) - 1,
    (select max(snapshot_date) from snapshots where website_id = $website::varchar)
  )::date::varchar as until,
  state
from begun
order by since
