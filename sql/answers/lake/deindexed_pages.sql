-- Pages that fell out of the index in the 30 days up to the newest snapshot and are not indexed again, newest first,
-- with what was seen beside it.
with period as (select max(snapshot_date) - interval 30 day as since, max(snapshot_date) as until from snapshots),
moved as (
  select commit_id, website_id, url, from_value, to_value
  from page_changes
  where change = 'coverage_state'
),
fallen as (
  select
    dropped.website_id as website_id,
    dropped.url as url,
    dropped.from_value as from_value,
    dropped.to_value as to_value,
    dropped.observed_at as observed_at,
    dropped.snapshot_date as snapshot_date,
    -- If the coverage state stayed the same, only the summary changed.
    case when moved.url is null then dropped.from_value else moved.from_value end as from_state,
    case when moved.url is null then dropped.to_value else moved.to_value end as to_state
  from page_changes as dropped
  cross join period
  left join moved
    on moved.commit_id = dropped.commit_id and moved.website_id = dropped.website_id and moved.url = dropped.url
  where dropped.change = 'deindexed' and dropped.snapshot_date between since and until
)
select
  fallen.website_id as website_id,
  fallen.url as url,
  fallen.from_value as from_value,
  fallen.to_value as to_value,
  fallen.observed_at as observed_at,
  fallen.snapshot_date as snapshot_date,
  pages.index_summary as index_summary_now,
  pages.index_coverage_state as index_coverage_state_now,
  case when pages.disappeared_at is null then true else false end as is_monitored_now,
  count(*) over (partition by fallen.website_id, fallen.url) as times,
  concat(
    coalesce(from_state, '(none)'),
    ' → ',
    coalesce(to_state, '(none)'),
    case
      when pages.report_fetched_at is null then '; no report yet'
      when pages.report_page_fetch_status = 'Successful' then ''
      else concat('; fetch: ', coalesce(pages.report_page_fetch_status, '(none)'))
    end,
    case when pages.report_blocked_by_robots_txt = 'Yes' then '; blocked by robots.txt' else '' end,
    case when pages.report_indexing_allowed <> 'Yes' then '; indexing not allowed' else '' end,
    case when pages.report_fetched_at < fallen.observed_at then '; report older than the fall' else '' end,
    case
      when pages.searchengine_selected_canonical <> fallen.url
        then concat('; canonical: ', coalesce(pages.searchengine_selected_canonical, ''))
      when pages.searchengine_selected_canonical is null and pages.user_selected_canonical <> fallen.url
        then concat('; declared canonical: ', coalesce(pages.user_selected_canonical, ''))
      else ''
    end
  ) as why
from fallen
left join page_state as pages on pages.website_id = fallen.website_id and pages.url = fallen.url
where coalesce(pages.index_summary, '') <> 'Indexed'
order by observed_at desc, website_id, url
