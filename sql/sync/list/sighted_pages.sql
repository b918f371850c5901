-- Each page that a sitemap or the search analytics named tonight, once, with all that they said about it. Clicks and so
-- on are those of the last 28 days with figures, `recent_impressions` those of the last seven; null if the search
-- analytics gave none of any page.
with sightings as (
  from read_json(
    getvariable('sightings_file'),
    format = 'newline_delimited',
    columns = {
      url: 'VARCHAR',
      sitemap: 'VARCHAR',
      lastmod: 'VARCHAR',
      traffic: 'STRUCT("window" VARCHAR, clicks BIGINT, impressions BIGINT, "position" DOUBLE)'
    }
  )
),
pages as (
  select
    url,
    list_sort(list_distinct(list(sitemap) filter (sitemap is not null))) as sitemaps,
    max(lastmod) as lastmod,
    any_value(traffic) filter (traffic."window" = '28d') as month,
    any_value(traffic) filter (traffic."window" = '7d') as week
  from sightings
  group by url
)
select
  url,
  nullif(sitemaps, []) as sitemaps,
  lastmod,
  if(is_read, coalesce(month.clicks, 0), null) as clicks,
  if(is_read, coalesce(month.impressions, 0), null) as impressions,
  round(month."position", 1) as "position",
  if(is_read, coalesce(week.impressions, 0), null) as recent_impressions
from pages
cross join (select count(*) > 0 as is_read from sightings where traffic is not null)
order by url
