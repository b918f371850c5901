-- What a website is called in its newest snapshot; null where its runs gave none yet, no row where there was no run
-- either. View `snapshots`: the markers; `runs`: one row per run.
select website_name
from (
  select website_name, snapshot_at
  from snapshots
  where website_id = $website::varchar
  union all by name
  select null::varchar as website_name
  from runs
  where website_id = $website::varchar
)
order by snapshot_at desc nulls last
limit 1
