-- What the snapshots of each website tell of its next run: its newest one and how long that took, what its newest
-- complete listing took to walk, and what a listing brings, by the medians over up to seven complete ones that follow
-- another. Views: `snapshots`, `runs`, `page_changes`.
with latest as (
  select * from snapshots qualify row_number() over (partition by website_id order by snapshot_id desc) = 1
),
complete as (
  select
    *,
    row_number() over (partition by website_id order by snapshot_id desc) as from_newest,
    row_number() over (partition by website_id order by snapshot_id) as from_oldest
  from snapshots
  where listing_status = 'complete'
),
changed_pages as (
  select
    commit_id,
    bool_or(change = 'disappeared') as is_gone,
    bool_or(change = 'appeared') as is_new,
    bool_or(change = 'crawled') as is_crawled,
    bool_or(change in (
      'indexed', 'deindexed', 'data_lost', 'coverage_state', 'searchengine_canonical', 'user_canonical',
      'canonicals_match'
    )) as is_changed
  from page_changes
  where
    commit_id in (select snapshot_id from complete where from_newest <= 7 and from_oldest > 1)
    and not never_fetched(url)
  group by commit_id, url
),
nights as (
  select
    any_value(complete.website_id) as website_id,
    count(*) filter (is_gone) as missing,
    count(*) filter (is_changed) as changed,
    count(*) filter (is_new) as new,
    count(*) filter (is_crawled and not is_changed) as recrawled
  from complete
  left join changed_pages on changed_pages.commit_id = complete.snapshot_id
  where from_newest <= 7 and from_oldest > 1
  group by complete.snapshot_id
),
expected as (
  select
    website_id,
    {
      'missing': round(median(missing))::integer,
      'changed': round(median(changed))::integer,
      'new': round(median(new))::integer,
      'recrawled': round(median(recrawled))::integer,
      'snapshots': count(*)::integer
    } as expected
  from nights
  group by website_id
)
select
  latest.website_id,
  latest.website_name,
  latest.snapshot_id,
  latest.run_id,
  if(latest.resumed, null, epoch_ms(last_run.started_at)::double) as started_ms,
  if(latest.resumed, null, epoch_ms(last_run.finished_at)::double) as finished_ms,
  if(latest.resumed, null, last_run.requests_sent) as requests,
  -- What is left of a run's requests when its reports and what was asked for twice are taken off.
  if(
    walk_requests > 0 and walked.pages_listed > 0,
    {'requests': walk_requests, 'pages': walked.pages_listed},
    null
  ) as walk,
  expected.expected
from latest
left join runs as last_run on last_run.run_id = latest.run_id and last_run.website_id = latest.website_id
left join complete as walked on walked.website_id = latest.website_id and walked.from_newest = 1
left join runs as walked_run on walked_run.run_id = walked.run_id and walked_run.website_id = walked.website_id
left join expected on expected.website_id = latest.website_id,
lateral (
  select
    (walked.requests_sent - walked.reports_planned - coalesce(walked_run.requests_retried, 0))::integer as walk_requests
)
