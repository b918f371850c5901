-- Each page that a sitemap or search analytics named tonight, once, with all that they say about it; and each known page
-- that nothing names, with when something last did (`last_named_at`), until complete listings have lacked it for
-- `google.forget_after`. Clicks and so on are those of the last 28 days with figures, of all spellings,
-- `recent_impressions` those of the last seven; null if search analytics gave none of any page. `spelling`: that of search
-- analytics with the most impressions, else that of a sitemap, if it is not `url`.
with pages as (
  select
    url,
    list_sort(list_distinct(list(source))) as named_by,
    max(lastmod) filter (source not in (from restless_sources)) as lastmod,
    arg_max(
      coalesce(spelling, url),
      {is_google: traffic is not null, impressions: traffic.impressions, is_url: spelling is null, spelling: spelling}
    ) as spelling,
    sum(traffic.clicks) filter (traffic."window" = '28d')::bigint as clicks,
    sum(traffic.impressions) filter (traffic."window" = '28d')::bigint as impressions,
    -- Of one row, the position is as Google has it.
    case count(traffic) filter (traffic."window" = '28d')
      when 1 then any_value(traffic."position") filter (traffic."window" = '28d')
      else sum(traffic."position" * traffic.impressions) filter (traffic."window" = '28d') / nullif(impressions, 0)
    end as "position",
    sum(traffic.impressions) filter (traffic."window" = '7d')::bigint as recent_impressions,
    null::timestamptz as last_named_at
  from sightings
  group by url
  union all by name
  select url, spelling, named_by, last_named_at
  from known_pages
  where
    url not in (select url from sightings)
    and (unnamed_since is null or unnamed_since > getvariable('forget_before') or getvariable('is_partial'))
)
select
  url,
  nullif(spelling, url) as spelling,
  lastmod,
  if(is_read, coalesce(pages.clicks, 0), null) as clicks,
  if(is_read, coalesce(pages.impressions, 0), null) as impressions,
  round("position", 1) as "position",
  if(is_read, coalesce(pages.recent_impressions, 0), null) as recent_impressions,
  named_by,
  last_named_at
from pages
cross join (select count(*) > 0 as is_read from sightings where traffic is not null)
order by url
