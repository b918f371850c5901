-- Each page that a sitemap or search analytics names, once, with all that they say about it; and each known page that nothing
-- names, with when something last did (`last_named_at`), until complete listings have lacked it for 90 days.
-- `spelling`: that of search analytics, else that of a sitemap, if it is not `url`.
with pages as (
  select
    url,
    list_sort(list_distinct(list(source))) as named_by,
    max(lastmod) filter (source not in (from restless_sources)) as lastmod,
    arg_max(
      coalesce(spelling, url),
      {is_google: impressions is not null, impressions: impressions, is_url: spelling is null, spelling: spelling}
    ) as spelling,
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
select url, nullif(spelling, url) as spelling, lastmod, named_by, last_named_at
from pages
order by url
