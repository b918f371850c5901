-- How many pages appeared, disappeared, entered or left the index and flipped their canonical, night by night.
select
  website_id,
  snapshot_date,
  count(case when change = 'appeared' then 1 end) as appeared,
  count(case when change = 'disappeared' then 1 end) as disappeared,
  count(case when change = 'indexed' then 1 end) as indexed,
  count(case when change = 'deindexed' then 1 end) as deindexed,
  count(case when change = 'data_lost' then 1 end) as data_lost,
  count(case
    when change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null
      then 1
  end) as canonical_flips,
  count(case when change in ('robots_blocked', 'robots_unblocked') then 1 end) as robots_changes,
  count(case when change = 'crawled' then 1 end) as crawled
from page_changes
group by website_id, snapshot_date
order by website_id, snapshot_date
