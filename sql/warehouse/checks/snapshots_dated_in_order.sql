-- remedy: the clock was wrong for this one: analyses over time show it in the wrong place, and only a backup is without it
-- The dates of a website's snapshots rise in the order of the commits. Of two that do not, the one is named that is in the
-- future or contradicts more of the others, or both.
with contradictions as (
  select
    one.website_id,
    one.snapshot_id,
    one.snapshot_at,
    other.snapshot_id as other_id,
    other.snapshot_at as other_at,
    count(*) over (partition by one.snapshot_id) + if(one.snapshot_at > now(), 1e9, 0) as weight
  from snapshots as one
  join snapshots as other
    on one.website_id = other.website_id
    and one.snapshot_at <> other.snapshot_at
    and (one.snapshot_at > other.snapshot_at) = (one.snapshot_id < other.snapshot_id)
)
select
  one.website_id,
  one.snapshot_id,
  format(
    'dated {}, but committed {} {}, which is dated {}',
    iso_time(one.snapshot_at), if(one.snapshot_id < one.other_id, 'before', 'after'), one.other_id, iso_time(one.other_at)
  ) as problem
from contradictions as one
join contradictions as other on other.snapshot_id = one.other_id and other.other_id = one.snapshot_id
where one.weight >= other.weight
qualify row_number() over (partition by one.snapshot_id order by one.other_id) = 1
order by one.snapshot_id
