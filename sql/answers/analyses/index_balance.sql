-- title: Balance of indexed pages
-- description: How the number of indexed pages came about: `indexed_before` + `first_inspected` + `entered` − `fell_out` − `retired` = `indexed`. A page fell out in a period if it is indexed in the last complete listing before it, and not in the last one of it, whether that still lists it or not; entered is the reverse. `fell_out` are `deindexed` (listed as not indexed) + `data_lost` (listed without inspection data) + `gone` (no longer listed). `entered` counts `appeared` pages, too: new or back in the listing, and indexed. `first_inspected` pages of Search Console were not inspected before, and are indexed; `retired` ones were indexed when they left the listing, as nothing named them for 90 days. `returned` fell out and came back between the two listings, and count as neither. A page whose record is quarantined keeps its last state. What partial listings and earlier ones of the date saw counts in the next complete listing.
-- question: What changed?
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param total (boolean, default false): one row per website for the whole period
-- grain: one row per website and date with a complete listing, except the first; with `total` one row per website, without figures if the period has no listing to compare
-- show snapshot_date (date): date
-- show indexed_before (count): indexed before
-- show first_inspected (count): first inspected
-- show entered (count): entered
-- show fell_out (count): fell out
-- show retired (count): retired
-- show indexed (count): indexed
-- show deindexed (count): not indexed
-- show data_lost (count): data lost
-- show gone (count): gone
-- show returned (count): returned
with pairs as (
  select website_id, before_id, before_date, snapshot_id as listing_id, snapshot_date as listing_date
  from daily_listings
  where before_id is not null and snapshot_date between $since::date and $until::date and not $total::boolean
  union all
  from period_listings($since::date, $until::date)
  where $total::boolean
  union all
  select website_id, null, null, null, null
  from (
    select distinct website_id from snapshots
    except
    select website_id from period_listings($since::date, $until::date)
  )
  where $total::boolean
),
listed as (
  select snapshot_id, sum(pages) filter (index_summary = 'Indexed')::integer as indexed
  from coverage_summary
  where snapshot_id in (select listing_id from pairs union select before_id from pairs)
  group by snapshot_id
),
moved as (
  select
    listing_id,
    count_if(move = 'first_inspected')::integer as first_inspected,
    count_if(move = 'entered')::integer as entered,
    count_if(move = 'entered' and not is_listed(last_was_status))::integer as appeared,
    count_if(move = 'retired')::integer as retired,
    count_if(move = 'fell_out')::integer as fell_out,
    count_if(move = 'fell_out' and last_status = 'not_indexed')::integer as deindexed,
    count_if(move = 'fell_out' and last_status = 'gone')::integer as gone,
    fell_out - deindexed - gone as data_lost,
    count_if(move = 'returned')::integer as returned
  from net_moves((select list({website_id: website_id, before_id: before_id, listing_id: listing_id}) from pairs))
  group by listing_id
)
select
  pairs.website_id,
  website_name,
  listing_date as snapshot_date,
  before_date,
  coalesce(listed_before.indexed, nothing) as indexed_before,
  coalesce(columns(['first_inspected', 'entered', 'fell_out', 'retired']), nothing),
  coalesce(listed.indexed, nothing) as indexed,
  coalesce(columns(['appeared', 'deindexed', 'data_lost', 'gone', 'returned']), nothing)
from (select *, if(listing_id is null, null, 0) as nothing from pairs) as pairs
join (select website_id, max_by(website_name, snapshot_id) as website_name from snapshots group by website_id) as named
  using (website_id)
left join listed on listed.snapshot_id = listing_id
left join listed as listed_before on listed_before.snapshot_id = before_id
left join moved using (listing_id)
where is_website(pairs.website_id, $website::varchar)
order by pairs.website_id, snapshot_date
