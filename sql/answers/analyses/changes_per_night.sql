-- title: Changes per night
-- description: How many pages appeared, disappeared, entered or left the index and flipped their canonical, night by night.
-- question: What changed?
-- param since (date, default 89 days ago): first date
-- param until (date, default today): last date
-- grain: one row per website and snapshot date
-- show snapshot_date (date): date
-- show appeared (count): appeared
-- show disappeared (count): gone
-- show indexed (count): indexed
-- show deindexed (count): de-indexed
-- show data_lost (count): data lost
-- show canonical_flips (count): canonical flips
-- show robots_changes (count): robots
-- show crawled (count): crawled
select
  website_id,
  snapshot_date,
  count(*) filter (change = 'appeared') as appeared,
  count(*) filter (change = 'disappeared') as disappeared,
  count(*) filter (change = 'indexed') as indexed,
  count(*) filter (change = 'deindexed') as deindexed,
  count(*) filter (change = 'data_lost') as data_lost,
  count(*) filter (is_flip(change, from_value, to_value)) as canonical_flips,
  count(*) filter (change in ('robots_blocked', 'robots_unblocked')) as robots_changes,
  count(*) filter (change = 'crawled') as crawled
from page_changes
where
  snapshot_date between $since::date and $until::date
  and is_website(website_id, $website::varchar)
group by website_id, snapshot_date
order by website_id, snapshot_date
