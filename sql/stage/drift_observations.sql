with observed as (
  select 'coverage' as source, observation.kind, observation.field, observation."value", null as url
  from (select unnest(drift) as observation from journal_windows)
  union all
  select 'coverage', 'doubled_url', 'url', null, url
  from doubled_urls
  union all
  select 'coverage', 'absent_field', unnest(absent), null, url
  from odd_entries
  where absent is not null
  union all
  select 'coverage', 'unknown_field', unnest(json_keys(extra)), null, url
  from odd_entries
  where extra is not null
  union all
  select 'coverage', 'new_value', known.field, known."value", known.url
  from (
    select url, unnest([
      {field: 'index_summary', "value": entry.index_summary},
      {field: 'index_coverage_state', "value": entry.index_coverage_state}
    ], recursive := true)
    from odd_entries
    where kind = 'entry'
  ) as known
  where not list_contains(getvariable('known_coverage'), known.field || '=' || known."value")
  union all
  select 'url_report', 'absent_field', unnest(absent), null, url
  from odd_reports
  where absent is not null
  union all
  select 'url_report', 'unknown_field', unnest(json_keys(extra)), null, url
  from odd_reports
  where extra is not null
  union all
  select 'url_report', 'new_value', known.field, known."value", known.url
  from (
    select url, unnest([
      {field: 'index_summary', "value": report.index_summary},
      {field: 'index_coverage_state', "value": report.index_coverage_state},
      {field: 'indexing_allowed', "value": report.indexing_allowed},
      {field: 'searchenginebot_primary_crawler', "value": report.searchenginebot_primary_crawler},
      {field: 'page_fetch_status', "value": report.page_fetch_status},
      {field: 'blocked_by_robots_txt', "value": report.blocked_by_robots_txt},
      {field: 'previously_indexed', "value": report.previously_indexed},
      {field: 'canonical_changed', "value": report.canonical_changed},
      {field: 'ever_blocked_by_robots_txt', "value": report.ever_blocked_by_robots_txt}
    ], recursive := true)
    from odd_reports
    where kind = 'fetched'
  ) as known
  where not list_contains(getvariable('known_url_report'), known.field || '=' || known."value")
)
select
  getvariable('commit_id')::varchar as commit_id,
  getvariable('snapshot_id')::varchar as snapshot_id,
  getvariable('website_id')::varchar as website_id,
  getvariable('snapshot_at')::timestamptz as snapshot_at,
  getvariable('snapshot_date')::date as snapshot_date,
  source,
  -- Names and texts are the service's own words, and may be as long as a record.
  left(field, 200) as field,
  left("value", 200) as "value",
  count(*)::integer as occurrences,
  min(url) as sample,
  kind
from observed
group by all
order by occurrences desc, source, kind, field, "value"
-- A hostile service can send a new field with each record; what is seen most often is told first.
limit 1000
