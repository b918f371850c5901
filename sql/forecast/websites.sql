-- What the snapshots of each website tell about its next run: its newest one and how its run went, how many requests
-- its newest complete listing took, and what a listing brings, as medians over up to seven complete ones that follow
-- another. Views: `snapshots`, `runs`, `page_changes`.
with following as (
  select website_id, snapshot_id
  from snapshots
  where listing_status = 'complete'
  qualify
    row_number() over (partition by website_id order by snapshot_id desc) <= 7
    and row_number() over (partition by website_id order by snapshot_id) > 1
),
brought as (
  select
    commit_id,
    url,
    case change
      when 'disappeared' then 'missing'
      when 'appeared' then 'new'
      when 'crawled' then 'recrawled'
      else 'changed'
    end as reason
  from page_changes
  where
    commit_id in (select snapshot_id from following)
    and change in (
      'disappeared', 'appeared', 'crawled', 'indexed', 'deindexed', 'data_lost', 'coverage_state',
      'searchengine_canonical', 'user_canonical', 'canonicals_match'
    )
    and not never_fetched(url)
),
nights as (
  select
    following.website_id,
    count(distinct url) filter (reason = 'missing') as missing,
    count(distinct url) filter (reason = 'changed') as changed,
    count(distinct url) filter (reason = 'new') as new,
    count(distinct url) filter (reason in ('changed', 'recrawled')) - changed as recrawled
  from following
  left join brought on brought.commit_id = following.snapshot_id
  group by following.website_id, following.snapshot_id
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
),
newest as (
  select
    website_id,
    max_by(snapshots, snapshot_id) as latest,
    max_by(snapshots, snapshot_id) filter (listing_status = 'complete') as walked
  from snapshots
  group by website_id
)
select
  newest.website_id,
  latest.website_name,
  latest.snapshot_id,
  latest.run_id,
  case when not latest.resumed and ran.run_id is not null then {
    'started_ms': epoch_ms(ran.started_at)::double,
    'finished_ms': epoch_ms(ran.finished_at)::double,
    'requests': ran.requests_sent
  } end as run,
  -- A run's requests less its reports and repeated requests.
  (walked.requests_sent - walked.reports_planned - coalesce(walk.requests_retried, 0))::integer as requests,
  if(requests > 0 and walked.pages_listed > 0, {'requests': requests, 'pages': walked.pages_listed}, null) as walk,
  expected.expected
from newest
left join runs as ran on ran.run_id = latest.run_id and ran.website_id = newest.website_id
left join runs as walk on walk.run_id = walked.run_id and walk.website_id = newest.website_id
left join expected on expected.website_id = newest.website_id
