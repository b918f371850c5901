-- How the listed entries and the planned reports of a commit ended.
with ended as (
  select 'fetched' as outcome, reason from now_url_reports
  union all
  select outcome, reason from now_report_failures
  union all
  select 'rejected', reason from now_rejected_records where source = 'url_report'
),
listed as (
  select (select count(*) from now_coverage) as accepted, count(*) as rejected
  from now_rejected_records
  where source = 'coverage'
),
reasons as (
  -- In the plan's order, so that the same reports give the same text.
  select to_json(map_from_entries(list(
    (reason, planned) order by list_position(getvariable('reasons'), reason), reason
  )))::varchar as counts
  from (select reason, count(*) as planned from ended group by reason)
),
-- The sources of whose pages at least half, and five, are no longer named by any source, but for those that names leave by age. A place that cannot be read is no
-- evidence, so a partial listing has none.
quiet as (
  select
    arg_max(source, pages_unnamed) as first,
    count(*) - 1 as others,
    sum(pages_before)::bigint as named,
    sum(pages_unnamed)::bigint as unnamed,
    (
      select format('; {}{} answered 404', min(source), if(count(*) > 1, format(' and {:,} more', count(*) - 1), ''))
      from now_listing_sources
      where http_status in (404, 410) and kind <> 'robots_txt'
      having count(*) > 0
    ) as missing
  from now_listing_sources
  where
    getvariable('listing_complete')
    and pages_unnamed >= greatest(5, pages_before / 2)
    and not coalesce(is_passing, false)
),
-- The commonest reason for a rejection, with one record. All of it is foreign text: it is cut, without control characters.
broken as (
  select
    regexp_replace(
      concat(
        if(field = '', '', left(field, 80) || ': '), left(one.message, 120),
        ' (' || left(one.value, 80) || ')', ' of ', left(one.record, 200)
      ),
      '[\pC\pZ\s]+', ' ', 'g'
    ) as reason
  from (
    select
      issues ->> '$[0].path' as field,
      any_value({
        message: issues ->> '$[0].message',
        value: if(
          issues ->> '$[0].path' = '',
          payload,
          try((payload::json -> ('/' || replace(issues ->> '$[0].path', '.', '/')))::varchar)
        ),
        record: coalesce(url, 'entry ' || position)
      }) as one
    from now_rejected_records
    group by field, issues ->> '$[0].code'
    order by count(*) desc, field
    limit 1
  )
)
select
  (accepted + listed.rejected)::integer as pages_listed,
  listed.rejected::integer as pages_rejected,
  count(outcome)::integer as reports_planned,
  count(*) filter (outcome = 'fetched')::integer as reports_fetched,
  count(*) filter (outcome = 'missing')::integer as reports_missing,
  count(*) filter (outcome = 'failed')::integer as reports_failed,
  count(*) filter (outcome = 'rejected')::integer as reports_rejected,
  count(*) filter (outcome = 'unconfirmed')::integer as reports_unconfirmed,
  coalesce(any_value(reasons.counts), '{}') as reports_by_reason,
  any_value(
    format(
      '{}{} named {:,} pages until now, and nothing names {:,} of them any more{}',
      first, if(others > 0, format(' and {:,} more', others), ''), named, unnamed, coalesce(missing, '')
    )
  ) as sources_quiet,
  (select reason from broken) as rejected_for,
  search_days_left,
  search_days_unknown,
  if(
    getvariable('by_inspection'),
    (
      select to_json(list(used))::varchar
      from (
        select property, "day", count(*)::integer as inspections
        from (select extra ->> '$.siteUrl' as property, california_date("at") as "day" from journal_reports)
        where property is not null
        group by property, "day"
        order by property, "day"
      ) as used
    ),
    null
  ) as inspections
from listed
cross join reasons
cross join quiet
cross join (
  select max("left") as search_days_left, max(doubtful) as search_days_unknown
  from journal_search
  where kind = 'searched'
)
left join ended on true
group by all
