-- Websites whose newest run failed: that run, how many failed in a row and since when. View `runs`: one row per website
-- and run.
with committed as (
  select website_id, max(run_id) as run_id
  from runs
  where outcome = 'committed'
  group by website_id
)
select
  runs.website_id,
  max(runs.run_id) as run_id,
  arg_max(coalesce(runs.error, 'no reason was recorded'), runs.run_id) as error,
  count(*)::integer as failed,
  min(runs.started_at) as since
from runs
left join committed using (website_id)
where
  runs.outcome = 'failed'
  and (committed.run_id is null or runs.run_id > committed.run_id)
group by runs.website_id
order by runs.website_id
