-- title: Changes per night
-- description: How many pages appeared, disappeared, entered or left the index and changed their canonical, night by night.
-- param website (text, default none): only this website's id
-- param since (date, default 30 days ago): first date
-- grain: one row per website and snapshot date
select
  website_id as website,
  snapshot_date as date,
  count(*) filter (change = 'appeared') as appeared,
  count(*) filter (change = 'disappeared') as disappeared,
  count(*) filter (change = 'indexed') as indexed,
  count(*) filter (change = 'deindexed') as deindexed,
  count(*) filter (change = 'data_lost') as data_lost,
  count(*) filter (change in ('searchengine_canonical', 'user_canonical')) as canonical_changes,
  count(*) filter (change in ('robots_blocked', 'robots_unblocked')) as robots_changes,
  count(*) filter (change = 'crawled') as crawled
from page_changes
where ($website::varchar is null or website_id = $website) and snapshot_date >= $since
group by website_id, snapshot_date
order by website_id, snapshot_date
