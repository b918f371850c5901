-- The places that were read tonight, and those that named known pages but that nothing names tonight. How many pages each
-- names: `pages`; `only_here`, which no other place names; `pages_before`, which it named until now; and `pages_unnamed`,
-- those of them that nothing names any more. `is_passing`: names leave it by age, as in a sitemap of news, or one of which
-- all left within a week, on two nights at least. Files that only their numbers tell apart, such as those of days, are one.
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
gone as (
  select family_of(source) as family, count(distinct url) as pages_gone, count(distinct unnamed_since) as nights
  from (select url, unnest(named_by) as source, unnamed_since from known_pages)
  where unnamed_since > getvariable('day_ago') - interval 6 days
  group by family
),
place as (
  select unnest(from_json(getvariable('sources')::json, '[{
    "source": "VARCHAR", "kind": "VARCHAR", "named_by": ["VARCHAR"], "http_status": "INTEGER", "entries": "INTEGER",
    "error": "VARCHAR", "remark": "VARCHAR", "last_downloaded": "TIMESTAMPTZ", "errors": "BIGINT", "warnings": "BIGINT",
    "is_pending": "BOOLEAN", "is_news": "BOOLEAN"
  }]'), recursive := true)
),
passing as (
  select family_of(coalesce(place.source, before.source)) as family
  from place
  full join before using (source)
  left join named on named.source = place.source
  left join gone on gone.family = family_of(coalesce(place.source, before.source))
  group by all
  having
    sum(pages) > 0
    and (bool_or(is_news) or (any_value(nights) >= 2 and any_value(pages_gone) >= coalesce(sum(pages_before), 0)))
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
  is_pending,
  family_of(coalesce(place.source, before.source)) in (from passing) as is_passing
from place
full join before using (source)
left join named on named.source = place.source
order by source
