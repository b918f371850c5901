-- The pages whose reports a run may fetch, as its own listing finds them.
create or replace temp view candidates as
select
  url,
  case
    when not present then 'missing'
    when changed or was_report_wanted = 'changed' then 'changed'
    when was_report_snapshot_id is null then 'new'
    when recrawled or was_report_wanted = 'recrawled' then 'recrawled'
    else 'oldest'
  end as reason,
  was_report_fetched_at as report_fetched_at,
  was_consecutive_failures >= 2 as keeps_failing
from compared
where
  present
  -- Missing from a complete listing, until that is confirmed.
  or (was_disappeared_at is null and (getvariable('listing_complete') or was_absences > 0))
