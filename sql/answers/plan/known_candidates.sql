-- The pages whose reports the next run may fetch if its listing shows nothing new: as `listed_candidates`, but from the
-- newest state alone.
create or replace temp view candidates as
select
  url,
  case
    when absences > 0 then 'missing'
    when report_wanted = 'changed' then 'changed'
    when report_snapshot_id is null then 'new'
    when report_wanted = 'recrawled' then 'recrawled'
    else 'oldest'
  end as reason,
  report_fetched_at,
  consecutive_failures >= 2 as keeps_failing
from page_state
where website_id = getvariable('website_id')::varchar and disappeared_at is null
