-- How many pages appeared, disappeared, entered or left the index and flipped their canonical, night by night, as in
-- the analysis of this name.
create or replace view changes_per_night as
select
  website_id,
  snapshot_date,
  countIf(change = 'appeared') as appeared,
  countIf(change = 'disappeared') as disappeared,
  countIf(change = 'indexed') as indexed,
  countIf(change = 'deindexed') as deindexed,
  countIf(change = 'data_lost') as data_lost,
  countIf(
    change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null
  ) as canonical_flips,
  countIf(change in ('robots_blocked', 'robots_unblocked')) as robots_changes,
  countIf(change = 'crawled') as crawled
from page_changes
group by website_id, snapshot_date
order by website_id, snapshot_date
