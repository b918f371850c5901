select
  "at" as fetched_at,
  reason,
  unnest(report),
  if(getvariable('by_inspection'), extra -> 'richResultsResult' ->> 'verdict', null) as rich_results_verdict,
  -- These have tables of their own.
  if(
    getvariable('by_inspection') and extra is not null,
    json_merge_patch(extra, '{"richResultsResult": null, "referringUrls": null}'),
    extra::json
  )::varchar as extra
from journal_reports
where kind = 'fetched'
