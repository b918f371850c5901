with observed as (
  select 'coverage' as source, observation.kind, observation.field, observation."value", 1 as occurrences, null as url
  from (select unnest(drift) as observation from journal_windows)
  union all
  select 'coverage', 'doubled_url', 'url', null, 1, url
  from doubled_urls
  union all
  select 'coverage', 'absent_field', unnest(absent), null, 1, url
  from odd_entries
  where absent is not null
  union all
  select 'url_report', 'absent_field', unnest(absent), null, 1, url
  from odd_reports
  where absent is not null
  union all
  select source, 'unknown_field', field, null, 1, url
  from (
    select 'coverage' as source, unnest(json_keys(extra)) as field, url from now_coverage where extra is not null
    union all
    select 'url_report', unnest(json_keys(extra)), url from now_url_reports where extra is not null
  )
  where not (getvariable('by_inspection') and list_contains(getvariable('search_console_extra'), field))
  union all
  select source, 'new_value', field, "value", occurrences, url
  from (
    unpivot (
      select
        source,
        columns(field -> list_contains(getvariable('known_fields'), field)),
        count(*) as occurrences,
        min(url) as url
      from (
        select *, 'coverage' as source from now_coverage
        union all by name
        select *, 'url_report' as source from now_url_reports
      )
      group by all
    )
    on columns(* exclude (source, occurrences, url)) into name field value "value"
  )
  where not list_contains(getvariable('known_values'), source || ' ' || field || '=' || "value")
)
select
  source,
  -- Names and texts come from the service and may be as long as a record.
  left(field, 200) as field,
  left("value", 200) as "value",
  sum(occurrences)::integer as occurrences,
  min(url) as sample,
  kind
from observed
group by all
order by occurrences desc, source, kind, field, "value"
-- A hostile service can send a new field with each record; the most frequent ones come first.
limit 1000
