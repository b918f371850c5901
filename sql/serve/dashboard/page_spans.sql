-- Whether a page was indexed, in spans of dates up to the newest snapshot, oldest first.
with changed as (
  select
    snapshot_date,
    -- Among several changes in one night, one of the index status counts before a coverage state, and what the first
    -- inspection says before that the page appeared.
    arg_max(
      {
        was: if(change = 'appeared', 'gone', from_value),
        now: case change when 'disappeared' then 'gone' when 'coverage_state' then 'Not Indexed' else to_value end
      },
      case change when 'coverage_state' then 0 when 'appeared' then 1 else 2 end
    ) as step
  from page_changes
  where
    website_id = $website::varchar
    and url = $url::varchar
    and (
      change in ('indexed', 'deindexed', 'data_lost', 'appeared', 'disappeared', 'first_data')
      or (change = 'coverage_state' and from_value is null)
    )
  group by snapshot_date
),
begun as (
  select snapshot_date as since, step.now as summary
  from changed
  union all
  -- Before its first change, the page was in the state that it left; without changes, in its current state.
  select
    first_seen_at::date,
    if(first_date is not null, first_step.was, if(unlisted_since is null, index_summary, 'gone'))
  from page_state, (select min(snapshot_date) as first_date, arg_min(step, snapshot_date) as first_step from changed)
  where
    website_id = $website::varchar
    and url = $url::varchar
    and first_seen_at::date < coalesce(first_date, 'infinity'::date)
)
select
  since::varchar as since,
  coalesce(
    lead(since) over (order by since) - 1,
    (select max(snapshot_date) from snapshots where website_id = $website::varchar)
  )::date::varchar as until,
  case when summary is null then 'no-data' when summary in ('Indexed', 'gone') then lower(summary) else 'not-indexed' end
    as state
from begun
order by since
