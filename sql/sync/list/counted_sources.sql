-- The places that were read tonight, and those that named known pages but that nothing names tonight. How many pages each
-- names: `pages`; `only_here`, which no other place names; `pages_before`, which it named until now; and `pages_unnamed`,
-- those of them that nothing names any more.
with named as (
  select source, count(*)::integer as pages, (count(*) filter (places = 1))::integer as only_here
  from (
    select source, url, count(*) over (partition by url) as places
    from (select distinct source, url from sightings)
  )
  group by source
),
before as (
  select
    source,
    count(*)::integer as pages_before,
    (count(*) filter (url not in (select url from sightings)))::integer as pages_unnamed
  from (select url, unnest(named_by) as source from known_pages where unnamed_since is null)
  group by source
),
place as (
  select unnest(from_json(getvariable('sources')::json, '[{
    "source": "VARCHAR", "kind": "VARCHAR", "named_by": ["VARCHAR"], "http_status": "INTEGER", "entries": "INTEGER",
    "error": "VARCHAR", "remark": "VARCHAR", "last_downloaded": "TIMESTAMPTZ", "errors": "BIGINT", "warnings": "BIGINT",
    "is_pending": "BOOLEAN"
  }]'), recursive := true)
)
select
  coalesce(place.source, before.source) as source,
  coalesce(kind, 'sitemap') as kind,
  coalesce(place.named_by, []) as named_by,
  http_status,
  coalesce(entries, 0) as entries,
  coalesce(pages, 0) as pages,
  coalesce(only_here, 0) as only_here,
  coalesce(pages_before, 0) as pages_before,
  coalesce(pages_unnamed, 0) as pages_unnamed,
  error,
  nullif(concat_ws(
    '; ',
    if(place.source is null, 'nothing names it any more', remark),
    if(
      place.source in (from restless_sources),
      'the lastmod of nearly all its pages is from the last day, so it is not believed',
      null
    )
  ), '') as remark,
  last_downloaded,
  errors,
  warnings,
  is_pending
from place
full join before using (source)
left join named on named.source = place.source
order by source
