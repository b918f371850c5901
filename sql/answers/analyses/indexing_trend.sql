-- title: Indexing trend
-- description: How much of each website is indexed, date by date. Counts the last complete listing of each date; a date without one has no row. `without_data` are `no_data` (the service never said anything of them) + `data_lost` (it no longer does) + `not_inspected` (Search Console was not asked yet). For websites of Search Console `share_estimated` is of all pages, with its 95% interval `share_low` to `share_high`, by the `sampled` random inspections since `sampled_since`; `no_estimate` says why there is none. `contradicted` pages were found not indexed, and shown in search a week later.
-- question: Is it growing?
-- param since (date, default 89 days ago): first date; its change is still counted against the date before it
-- param until (date, default today): last date
-- grain: one row per website and snapshot date with a complete listing
-- show snapshot_date (date): date
-- show pages (count): pages
-- show indexed (count): indexed
-- show indexed_change (change): change
-- show share_indexed (share): of pages
-- show without_data (count): no data
-- show share_low (share): of all at least
-- show share_high (share): at most
with counted as (
  -- Starts from the listings, because one without pages has no counts.
  select
    listings.website_id,
    listings.website_name,
    listings.snapshot_date,
    coalesce(sum(pages), 0)::bigint as pages,
    coalesce(sum(pages) filter (index_summary = 'Indexed'), 0)::bigint as indexed,
    coalesce(sum(pages) filter (index_summary is null), 0)::bigint as without_data,
    coalesce(sum(pages) filter (status = 'no_data'), 0)::bigint as no_data,
    coalesce(sum(pages) filter (status = 'data_lost'), 0)::bigint as data_lost,
    coalesce(sum(pages) filter (status = 'not_inspected'), 0)::bigint as not_inspected
  from daily_listings as listings
  left join coverage_summary using (snapshot_id)
  where is_website(listings.website_id, $website::varchar) and listings.snapshot_date <= $until::date
  group by all
)
select
  website_id,
  website_name,
  snapshot_date,
  pages,
  indexed,
  pages - indexed - without_data as not_indexed,
  without_data,
  no_data,
  data_lost,
  not_inspected,
  round(indexed / nullif(pages, 0), 4) as share_indexed,
  pages - lag(pages) over by_date as pages_change,
  indexed - lag(indexed) over by_date as indexed_change,
  share_estimated,
  share_low,
  share_high,
  sampled,
  sampled_since,
  no_estimate,
  contradicted
from counted
left join estimated_shares($website::varchar, $until::date) using (website_id, snapshot_date)
window by_date as (partition by website_id order by snapshot_date)
qualify $since::date is null or snapshot_date >= $since::date
order by website_id, snapshot_date
