-- title: Coverage by directory
-- description: How much of each directory is indexed, by the last complete listing up to a date, and what changed since the last one before the period. `canonicals_differ` counts pages for which the search engine chose another canonical than the declared one, or none is declared. `(other)` sums up all directories that are not among the 500 largest of both listings, because they cannot be compared one by one. Of a website of Search Console, `share_indexed` is of the pages that were inspected, and pages that were inspected for the first time or are retired do not count as changed.
-- question: Is it growing?
-- param since (date, default 6 days ago): first date; changes are counted against the last complete listing before it
-- param until (date, default today): last date; its last complete listing is counted
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and first directory of the URL's path
-- show directory (text): directory
-- show pages (count): pages
-- show indexed (count): indexed
-- show indexed_change (change): change
-- show share_indexed (share): share indexed
-- show without_data (count): no data
-- show canonicals_differ (count): canonical not as declared
with listings as (
  select website_id, max(daily_listings.snapshot_id) as snapshot_id, any_value(period.before_id) as since_id
  from daily_listings
  left join period_listings($since::date, $until::date) as period using (website_id)
  where daily_listings.snapshot_date <= $until::date and is_website(website_id, $website::varchar)
  group by website_id
),
counted as (
  select
    website_id,
    directory,
    any_value(since_id) as since_id,
    bool_or(summary.snapshot_id = listings.snapshot_id) is true as in_now,
    bool_or(summary.snapshot_id = since_id) is true as in_then,
    sum(pages) filter (summary.snapshot_id = listings.snapshot_id) as pages,
    sum(pages) filter (summary.snapshot_id = listings.snapshot_id and index_summary = 'Indexed') as indexed,
    sum(pages) filter (summary.snapshot_id = listings.snapshot_id and index_summary is null) as without_data,
    sum(pages) filter (summary.snapshot_id = listings.snapshot_id and canonicals_match) as canonicals_match,
    sum(pages) filter (summary.snapshot_id = listings.snapshot_id and not canonicals_match) as canonicals_differ,
    sum(pages) filter (summary.snapshot_id = since_id) as pages_then,
    sum(pages) filter (summary.snapshot_id = since_id and index_summary = 'Indexed') as indexed_then
  from coverage_summary as summary
  join listings using (website_id)
  where summary.snapshot_id in (listings.snapshot_id, since_id)
  group by website_id, directory
),
-- Nothing is read for websites of the API.
unchanged as (
  select
    website_id,
    if((website_id, directory_of(url)) in (select (website_id, directory) from counted), directory_of(url), '(other)') as directory,
    sum(step)::bigint as not_changed
  from net_moves((
    select list({website_id: website_id, before_id: since_id, listing_id: snapshot_id})
    from listings
    where since_id is not null and is_property(website_id)
  ))
  where move in ('first_inspected', 'retired')
  group by all
),
named as (
  select * replace (shown_directory(website_id, directory, in_now, in_then) as directory)
  from counted
  left join unchanged using (website_id, directory)
),
summed as (
  select
    website_id,
    directory,
    any_value(since_id) as since_id,
    coalesce(sum(columns(* exclude (website_id, directory, since_id, in_now, in_then))), 0)::bigint
  from named
  group by website_id, directory
)
select
  website_id,
  directory,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  round(indexed / nullif(pages - if(is_property(website_id), without_data, 0), 0), 4) as share_indexed,
  canonicals_match,
  canonicals_differ,
  if(since_id is null, null, pages - pages_then) as pages_change,
  if(since_id is null, null, indexed - indexed_then - not_changed) as indexed_change
from summed
order by pages desc, website_id, directory
limit $limit::bigint
