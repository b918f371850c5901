-- The listing of a source that says only which pages there are: the state of a page is what its last inspection says,
-- tonight's or an earlier one, which may have been when it was not listed. One without a verdict does not replace one
-- with a verdict. `extra` has the time of the last modification.
select
  * exclude (is_tonight, was_without_verdict, inspection_link, extra, inspected_at, last_named_at, named_by, spelling),
  floor((epoch(listed_at) - epoch(last_crawl_time)) / 86400)::integer as days_since_last_crawl,
  inspection_link,
  null::varchar as service_link,
  inspected_at is not null as canonicals_match_present,
  extra,
  inspected_at,
  last_named_at,
  named_by,
  spelling
from (
  select
    entry.listed_at,
    url,
    tonight."at" is not null and (tonight.index_summary is not null or was.index_summary is null) as is_tonight,
    was.report_index_summary is null and was.index_summary is not null as was_without_verdict,
    if(is_tonight, tonight.index_summary, coalesce(was.report_index_summary, was.index_summary)) as index_summary,
    case
      when is_tonight then tonight.index_coverage_state
      when was_without_verdict then was.index_coverage_state
      else was.report_index_coverage_state
    end as index_coverage_state,
    case
      when not is_tonight then was.canonicals_match
      when tonight.searchengine_selected_canonical is not null
      then tonight.searchengine_selected_canonical is not distinct from tonight.user_selected_canonical
    end as canonicals_match,
    if(is_tonight, tonight.searchengine_selected_canonical, was.searchengine_selected_canonical)
      as searchengine_selected_canonical,
    if(is_tonight, tonight.user_selected_canonical, was.user_selected_canonical) as user_selected_canonical,
    case
      when is_tonight then tonight.last_crawl_time
      when was_without_verdict then was.last_crawl_time
      else was.report_last_crawl_time
    end as last_crawl_time,
    coalesce(tonight.inspection_link, was.report_inspection_link) as inspection_link,
    nullif(json_merge_patch(
      extra::json,
      '{
        "named_by": null,
        "last_named_at": null, "spelling": null
      }'
    )::varchar, '{}') as extra,
    coalesce(tonight."at", was.report_fetched_at) as inspected_at,
    coalesce((extra ->> 'last_named_at')::timestamptz, entry.listed_at) as last_named_at,
    (extra -> 'named_by')::varchar[] as named_by,
    extra ->> 'spelling' as spelling
  from (from listed_entries where kind = 'entry') as entry
  left join (select "at", unnest(report) from journal_reports where kind = 'fetched') as tonight using (url)
  left join previous_state as was using (url)
)
