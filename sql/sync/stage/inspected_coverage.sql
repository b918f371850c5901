-- The listing of a source that says only which pages there are: the state of a page is what its last inspection says,
-- tonight's or an earlier one, which may have been when it was not listed. `extra` has the sitemaps and the time of the
-- last modification.
select
  * exclude (is_tonight, inspection_link, extra, inspected_at),
  floor((epoch(listed_at) - epoch(last_crawl_time)) / 86400)::integer as days_since_last_crawl,
  inspection_link,
  null::varchar as service_link,
  inspected_at is not null as canonicals_match_present,
  extra,
  inspected_at
from (
  select
    entry.listed_at,
    url,
    tonight."at" is not null as is_tonight,
    if(is_tonight, tonight.index_summary, was.report_index_summary) as index_summary,
    if(is_tonight, tonight.index_coverage_state, was.report_index_coverage_state) as index_coverage_state,
    case
      when not is_tonight then was.canonicals_match
      when tonight.searchengine_selected_canonical is not null
      then tonight.searchengine_selected_canonical is not distinct from tonight.user_selected_canonical
    end as canonicals_match,
    if(is_tonight, tonight.searchengine_selected_canonical, was.searchengine_selected_canonical)
      as searchengine_selected_canonical,
    if(is_tonight, tonight.user_selected_canonical, was.user_selected_canonical) as user_selected_canonical,
    if(is_tonight, tonight.last_crawl_time, was.report_last_crawl_time) as last_crawl_time,
    tonight.inspection_link,
    nullif(json_merge_patch(
      extra::json,
      '{"clicks": null, "impressions": null, "position": null, "recent_impressions": null}'
    )::varchar, '{}') as extra,
    coalesce(tonight."at", was.report_fetched_at) as inspected_at
  from (from listed_entries where kind = 'entry') as entry
  left join (select "at", unnest(report) from journal_reports where kind = 'fetched') as tonight using (url)
  left join previous_state as was using (url)
)
