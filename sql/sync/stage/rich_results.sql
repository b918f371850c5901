-- What inspections found of rich results, a row for each issue of a type. An indexed page without any has a row, too:
-- only so can it be told from one that was not inspected. What has another form than documented is null.
with inspected as (
  select
    url,
    "at" as inspected_at,
    report.index_summary = 'Indexed' as is_indexed,
    json_transform(
      extra -> 'richResultsResult',
      '{
        "verdict": "VARCHAR",
        "detectedItems": [
          {"richResultType": "VARCHAR", "items": [{"issues": [{"issueMessage": "VARCHAR", "severity": "VARCHAR"}]}]}
        ]
      }'
    ) as found
  from journal_reports
  where kind = 'fetched'
),
detected as (
  select
    url,
    inspected_at,
    found.verdict,
    unnest(if(len(found.detecteditems) > 0, found.detecteditems, [null])) as detected
  from inspected
  where is_indexed or found.verdict is not null or len(found.detecteditems) > 0
),
types as (
  select
    url,
    inspected_at,
    verdict,
    detected.richresulttype as rich_result_type,
    coalesce(sum(len(detected.items)), 0)::integer as items,
    flatten(flatten(list([coalesce(item.issues, []) for item in coalesce(detected.items, [])]))) as issues
  from detected
  group by all
),
issues as (
  select * exclude (issues), unnest(if(len(issues) > 0, issues, [null])) as issue
  from types
)
select
  * exclude (issue),
  issue.severity,
  issue.issuemessage as issue,
  count(issue)::integer as occurrences
from issues
group by all
