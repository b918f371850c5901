-- The pages to inspect: at most three fifths of the day's inspections for a reason, the others by rotation. Pages that
-- were never inspected come before second looks, except at what was modified. The rotation takes the oldest inspection,
-- and orders equal ones by a hash, so that it is a random sample. Both are mixed, so that each gets its share of what
-- others leave of the quota.
with reasoned as (
  select
    *,
    row_number() over (
      partition by property
      order by
        keeps_failing,
        goes_first(url) desc,
        reason = 'modified' or report_fetched_at is null desc,
        list_position(getvariable('reasons'), reason),
        impressions_lost desc nulls last,
        report_fetched_at nulls first,
        md5(url)
    ) as place
  from inspections_due
  join inspections_left using (property)
  where reason <> 'oldest'
  qualify place <= floor(0.6 * inspections_left)
),
rotated as (
  select
    * replace ('oldest' as reason),
    row_number() over (partition by property order by keeps_failing, report_fetched_at nulls first, md5(url)) as place
  from inspections_due
  join inspections_left using (property)
  left join (select property, count(*) as reasons from reasoned group by property) as chosen using (property)
  anti join reasoned using (url)
  qualify place <= inspections_left - coalesce(reasons, 0)
)
select url, reason, spelling
from (
  select url, reason, spelling, place / 0.6 as turn from reasoned
  union all
  select url, reason, spelling, place / 0.4 as turn from rotated
)
order by turn, url
limit getvariable('max_reports')::bigint
