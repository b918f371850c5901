-- Each page that a sitemap or the search analytics named tonight, once, with all that they said about it; and each known
-- one that nothing names, but did until lately, with when that was (`last_named_at`). Clicks and so on are those of the
-- last 28 days with figures, `recent_impressions` those of the last seven; null if the search analytics gave none of any
-- page.
with pages as (
  select
    url,
    list_sort(list_distinct(list(source))) as named_by,
    max(lastmod) as lastmod,
    any_value(traffic) filter (traffic."window" = '28d') as month,
    any_value(traffic) filter (traffic."window" = '7d') as week,
    null::timestamptz as last_named_at
  from sightings
  group by url
  union all by name
  select url, named_by, last_named_at
  from known_pages
  where last_named_at > getvariable('forget_before') and url not in (select url from sightings)
)
select
  url,
  lastmod,
  if(is_read, coalesce(month.clicks, 0), null) as clicks,
  if(is_read, coalesce(month.impressions, 0), null) as impressions,
  round(month."position", 1) as "position",
  if(is_read, coalesce(week.impressions, 0), null) as recent_impressions,
  named_by,
  last_named_at
from pages
cross join (select count(*) > 0 as is_read from sightings where traffic is not null)
order by url
