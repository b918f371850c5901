-- Pages that fell out of the index, newest first, with what is known of the cause, as in the analysis of this name with
-- `reindexed`.
create or replace view deindexed_pages as
select
  dropped.website_id as website_id,
  dropped.url as url,
  dropped.from_value as from_value,
  dropped.to_value as to_value,
  dropped.observed_at as observed_at,
  dropped.snapshot_date as snapshot_date,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  pages.is_monitored as is_monitored_now,
  arrayStringConcat(arrayFilter(part -> part is not null, [
    concat(
      coalesce(if(moved.url is null, dropped.from_value, moved.from_value), '(none)'),
      ' → ',
      coalesce(if(moved.url is null, dropped.to_value, moved.to_value), '(none)')
    ),
    case
      when pages.report_fetched_at is null then 'no report yet'
      when pages.report_page_fetch_status is distinct from 'Successful'
        then concat('fetch: ', coalesce(pages.report_page_fetch_status, '(none)'))
    end,
    if(pages.is_blocked_by_robots_txt, 'blocked by robots.txt', null),
    if(not pages.is_indexing_allowed, 'indexing not allowed', null),
    if(pages.report_fetched_at < dropped.observed_at, 'report older than the fall', null),
    case
      when pages.searchengine_selected_canonical <> dropped.url
        then concat('canonical: ', pages.searchengine_selected_canonical)
      when pages.searchengine_selected_canonical is null and pages.user_selected_canonical <> dropped.url
        then concat('declared canonical: ', pages.user_selected_canonical)
    end
  ]), '; ') as why
from page_changes as dropped
left join pages on pages.website_id = dropped.website_id and pages.url = dropped.url
left join (select * from page_changes where change = 'coverage_state') as moved
  on moved.commit_id = dropped.commit_id and moved.website_id = dropped.website_id and moved.url = dropped.url
where dropped.change = 'deindexed'
order by observed_at desc, website_id, url
settings join_use_nulls = 1
