-- The sitemaps whose pages fell out of the index or entered it in a period of dates. A page counts in each sitemap that
-- its last report of the period names.
with restated as (
  -- The first change after the period says which sitemaps a page was in at its end.
  select website_id, url, arg_min({was: from_value::varchar[]}, snapshot_id) as later
  from page_changes
  join period_listings($since::date, $until::date) using (website_id)
  where change = 'sitemaps' and snapshot_id > listing_id and ($website::varchar is null or website_id = $website::varchar)
  group by website_id, url
),
listed as (
  select
    moves.*,
    is_monitored,
    unnest(list_distinct(if(later is null, report_sitemaps, later.was))) as sitemap
  from index_moves($since::date, $until::date) as moves
  join pages using (website_id, url)
  left join restated using (website_id, url)
  where $website::varchar is null or website_id = $website::varchar
)
select
  website_id,
  sitemap,
  count_if(is_monitored)::integer as pages,
  count_if(move = 'entered')::integer as entered,
  count_if(move = 'fell_out')::integer as fell_out,
  count_if(is_indexed)::integer as indexed
from listed
group by website_id, sitemap
having fell_out + entered > 0
order by abs(entered - fell_out) desc, website_id, sitemap
limit $limit::bigint
