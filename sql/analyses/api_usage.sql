-- title: API usage
-- description: The requests of each run, newest first: how many were sent, throttled (429) or retried, and their results.
-- question: The service and the data
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): first date
-- param until (date, default today): last date
-- param limit (integer, default none): at most this many rows
-- grain: one row per website and run
-- show website_id (website): website
-- show started_at (time): started
-- show minutes (number): minutes
-- show outcome (text): outcome
-- show requests_sent (count): requests
-- show requests_per_minute (number): a minute
-- show requests_throttled (count): throttled
-- show requests_retried (count): retried
-- show pages_listed (count): pages
-- show reports_planned (count): planned
-- show reports_fetched (count): fetched
-- show error (text): error
select
  runs.website_id,
  runs.run_id,
  runs.started_at,
  round((epoch(runs.finished_at) - epoch(runs.started_at)) / 60, 1) as minutes,
  runs.outcome,
  runs.requests_sent,
  runs.requests_throttled,
  runs.requests_retried,
  round(60 * runs.requests_sent / nullif(epoch(runs.finished_at) - epoch(runs.started_at), 0), 1)
    as requests_per_minute,
  snapshots.pages_listed,
  snapshots.reports_planned,
  snapshots.reports_fetched,
  runs.error
from runs
left join snapshots on snapshots.snapshot_id = runs.snapshot_id
where
  runs.snapshot_date between $since::date and $until::date
  and is_website(runs.website_id, $website::varchar)
order by runs.started_at desc, runs.website_id
limit $limit::bigint
