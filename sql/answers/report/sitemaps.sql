-- The pages of each sitemap, and how many of them fell out of the index and how many entered it between two dates, both
-- included. A page counts in each sitemap that its last report names. View `pages`: one row per page; `page_changes`:
-- one row per change.
with changed as (
  select
    website_id,
    url,
    bool_or(change = 'deindexed') as has_fallen,
    bool_or(change = 'indexed') as has_come
  from page_changes
  where
    change in ('deindexed', 'indexed')
    and ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
  group by website_id, url
),
listed as (
  select website_id, url, is_monitored, is_indexed, unnest(list_distinct(report_sitemaps)) as sitemap
  from pages
  where $website::varchar is null or website_id = $website::varchar
)
select
  website_id,
  sitemap,
  (count(*) filter (is_monitored))::integer as pages,
  (count(*) filter (is_monitored and is_indexed))::integer as indexed,
  (count(*) filter (has_fallen))::integer as deindexed,
  (count(*) filter (has_come))::integer as newly_indexed
from listed
left join changed using (website_id, url)
group by website_id, sitemap
having deindexed + newly_indexed > 0
order by abs(newly_indexed - deindexed) desc, website_id, sitemap
limit $limit::bigint
