-- The newest run of one website, with or without a snapshot.
select outcome, error, finished_at
from runs
where website_id = $website::varchar
order by run_id desc
limit 1
