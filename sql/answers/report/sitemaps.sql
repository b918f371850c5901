-- The sitemaps whose pages fell out of the index or entered it in a period of dates. A page counts in each sitemap that
-- its last report of the period names, and among `pages` if it is listed at the end of it.
with asked as (
  select list({website_id: website_id, snapshot_id: listing_id}) as cuts
  from period_listings($since::date, $until::date)
  where $website::varchar is null or website_id = $website::varchar
),
listed as (
  select moves.*, unnest(list_distinct(report_sitemaps)) as sitemap
  from index_moves($since::date, $until::date) as moves
  join versions_as_of((select cuts from asked)) as ending using (website_id, url)
)
select
  website_id,
  sitemap,
  count_if(is_listed(end_status))::integer as pages,
  count_if(move = 'entered')::integer as entered,
  count_if(move = 'fell_out')::integer as fell_out,
  count_if(is_indexed)::integer as indexed
from listed
group by website_id, sitemap
having fell_out + entered > 0
order by abs(entered - fell_out) desc, website_id, sitemap
limit $limit::bigint
