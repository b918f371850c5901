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
  select 'coverage', 'unknown_field', unnest(json_keys(extra)), null, 1, url
  from now_coverage
  where extra is not null
  union all
  select 'coverage', 'new_value', known.field, known."value", known.occurrences, known.url
  from (
    select occurrences, url, unnest([
      {field: 'index_summary', "value": index_summary},
      {field: 'index_coverage_state', "value": index_coverage_state}
    ], recursive := true)
    from (
      select index_summary, index_coverage_state, count(*) as occurrences, min(url) as url
      from now_coverage
      group by all
    )
  ) as known
  where not list_contains(getvariable('known_coverage'), known.field || '=' || known."value")
  union all
  select 'url_report', 'absent_field', unnest(absent), null, 1, url
  from odd_reports
  where absent is not null
  union all
  select 'url_report', 'unknown_field', unnest(json_keys(extra)), null, 1, url
  from now_url_reports
  where extra is not null
  union all
  select 'url_report', 'new_value', known.field, known."value", known.occurrences, known.url
  from (
    select occurrences, url, unnest([
      {field: 'index_summary', "value": index_summary},
      {field: 'index_coverage_state', "value": index_coverage_state},
      {field: 'indexing_allowed', "value": indexing_allowed},
      {field: 'searchenginebot_primary_crawler', "value": searchenginebot_primary_crawler},
      {field: 'page_fetch_status', "value": page_fetch_status},
      {field: 'blocked_by_robots_txt', "value": blocked_by_robots_txt},
      {field: 'previously_indexed', "value": previously_indexed},
      {field: 'canonical_changed', "value": canonical_changed},
      {field: 'ever_blocked_by_robots_txt', "value": ever_blocked_by_robots_txt}
    ], recursive := true)
    from (
      select
        index_summary,
        index_coverage_state,
        indexing_allowed,
        searchenginebot_primary_crawler,
        page_fetch_status,
        blocked_by_robots_txt,
        previously_indexed,
        canonical_changed,
        ever_blocked_by_robots_txt,
        count(*) as occurrences,
        min(url) as url
      from now_url_reports
      group by all
    )
  ) as known
  where not list_contains(getvariable('known_url_report'), known.field || '=' || known."value")
)
select
  source,
  -- Names and texts are the service's own words, and may be as long as a record.
  left(field, 200) as field,
  left("value", 200) as "value",
  sum(occurrences)::integer as occurrences,
  min(url) as sample,
  kind
from observed
group by all
order by occurrences desc, source, kind, field, "value"
-- A hostile service can send a new field with each record; what is seen most often is told first.
limit 1000
