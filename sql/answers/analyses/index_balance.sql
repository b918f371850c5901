-- title: Balance of indexed pages
-- description: How the number of indexed pages came about: `indexed_before` in the listing before + `newly_indexed` + `appeared_indexed` (new or back in the listing, and indexed) − `deindexed` − `data_lost` (no inspection data any more) − `gone` (no longer listed) − `unlisted` = `indexed`. `unlisted` are indexed pages that this listing lacks though they are not gone: quarantined or absent for the first time; negative where more such pages were listed again, or are counted as gone now. What partial listings and earlier ones of the date saw counts in the next complete listing. `verify` checks the sums page by page.
-- question: What changed?
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): first date; counted against the last complete listing before it
-- param until (date, default today): last date
-- param total (boolean, default false): one row per website for the whole period
-- grain: one row per website and date with a complete listing, except the first; with `total` one row per website
-- show website_id (website): website
-- show snapshot_date (date): date
-- show indexed_before (count): indexed before
-- show newly_indexed (count): newly indexed
-- show appeared_indexed (count): appeared
-- show deindexed (count): de-indexed
-- show data_lost (count): data lost
-- show gone (count): gone
-- show unlisted (count): unlisted
-- show indexed (count): indexed
with listings as (
  select *
  from daily_listings
  where
    before_id is not null
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
listed as (
  select snapshot_id, coalesce(sum(pages) filter (index_summary = 'Indexed'), 0)::integer as indexed
  from coverage_summary
  where snapshot_id in (select snapshot_id from listings union select before_id from listings)
  group by snapshot_id
),
recorded as (
  select
    listing_id,
    count_if(change = 'indexed')::integer as newly_indexed,
    count_if(change = 'appeared')::integer as appeared_indexed,
    count_if(change = 'deindexed')::integer as deindexed,
    count_if(change = 'data_lost')::integer as data_lost,
    count_if(change = 'disappeared')::integer as gone
  from page_changes
  join (select unnest(snapshot_ids) as snapshot_id, snapshot_id as listing_id from listings) using (snapshot_id)
  where index_step(change, from_value, to_value) is not null
  group by listing_id
),
nightly as (
  select
    listings.*,
    coalesce(listed_before.indexed, 0) as indexed_before,
    coalesce(newly_indexed, 0) as newly_indexed,
    coalesce(appeared_indexed, 0) as appeared_indexed,
    coalesce(deindexed, 0) as deindexed,
    coalesce(data_lost, 0) as data_lost,
    coalesce(gone, 0) as gone,
    coalesce(listed.indexed, 0) as indexed
  from listings
  left join listed using (snapshot_id)
  left join listed as listed_before on listed_before.snapshot_id = listings.before_id
  left join recorded on recorded.listing_id = listings.snapshot_id
)
select
  website_id,
  arg_max(website_name, snapshot_date) as website_name,
  max(snapshot_date) as snapshot_date,
  min(before_date) as before_date,
  arg_min(indexed_before, snapshot_date) as indexed_before,
  sum(newly_indexed)::integer as newly_indexed,
  sum(appeared_indexed)::integer as appeared_indexed,
  sum(deindexed)::integer as deindexed,
  sum(data_lost)::integer as data_lost,
  sum(gone)::integer as gone,
  sum(indexed_before + newly_indexed + appeared_indexed - deindexed - data_lost - gone - indexed)::integer as unlisted,
  arg_max(indexed, snapshot_date) as indexed
from nightly
group by website_id, if($total::boolean, null, snapshot_date)
order by website_id, snapshot_date
