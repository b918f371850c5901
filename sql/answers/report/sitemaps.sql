-- The sitemaps whose pages fell out of the index or entered it in a period of dates. A page counts in each sitemap that
-- its last report of the period names, and among `pages` if it is listed at the end of it.
with asked as (
  select list({website_id: website_id, snapshot_id: listing_id}) as cuts
  from period_listings($since::date, $until::date)
  where $website::varchar is null or website_id = $website::varchar
),
alike as (
  select website_id, status, move, report_sitemaps, count(*) as number
  from states_as_of((select cuts from asked))
  left join (
    select website_id, url, move
    from period_moves($since::date, $until::date)
    where move in ('entered', 'fell_out')
  ) using (website_id, url)
  group by all
)
select
  website_id,
  sitemap,
  coalesce(sum(number) filter (is_listed(status)), 0)::integer as pages,
  coalesce(sum(number) filter (move = 'entered'), 0)::integer as entered,
  coalesce(sum(number) filter (move = 'fell_out'), 0)::integer as fell_out,
  coalesce(sum(number) filter (status = 'indexed'), 0)::integer as indexed
from (select *, unnest(list_distinct(report_sitemaps)) as sitemap from alike)
group by website_id, sitemap
having fell_out + entered > 0
order by abs(entered - fell_out) desc, website_id, sitemap
limit 1000
