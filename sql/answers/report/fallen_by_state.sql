-- Samples of the pages that fell out of the index between two dates, both included, by the coverage state that they
-- changed to: the most frequent states first, and for each state the pages of the directory that lost most to it.
-- `$states`, `$samples`: how many states, and how many pages of each. A page counts once, with its last fall.
-- `page_changes`: one row per change.
with fell as (
  select website_id, url, commit_id, snapshot_date, observed_at, from_value, to_value
  from page_changes
  where
    change = 'deindexed'
    and ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
  qualify row_number() over (partition by website_id, url order by observed_at desc, commit_id desc) = 1
),
moved as (
  select website_id, url, commit_id, from_value, to_value
  from page_changes
  where change = 'coverage_state'
),
-- If the coverage state stayed the same, only the summary changed.
recorded as (
  select
    fell.website_id,
    fell.url,
    fell.snapshot_date,
    fell.observed_at,
    if(moved.url is null, fell.from_value, moved.from_value) as from_state,
    if(moved.url is null, fell.to_value, moved.to_value) as to_state,
    directory_of(fell.url) as directory
  from fell
  left join moved using (website_id, url, commit_id)
),
ranked as (
  select
    *,
    count(*) over (partition by to_state) as fallen,
    count(*) over (partition by website_id, to_state, directory) as alike
  from recorded
),
numbered as (
  select
    *,
    dense_rank() over (order by fallen desc, to_state) as state_number,
    row_number() over (partition by to_state order by alike desc, website_id, directory, url) as number
  from ranked
)
select
  numbered.website_id,
  coalesce(to_state, 'no data') as state,
  fallen::integer as fallen,
  numbered.url,
  numbered.snapshot_date,
  coalesce(from_state, 'no data') as from_state,
  fall_circumstances(
    observed_at,
    pages.report_fetched_at,
    pages.report_page_fetch_status,
    pages.is_blocked_by_robots_txt,
    pages.is_indexing_allowed,
    numbered.url,
    pages.searchengine_selected_canonical,
    pages.user_selected_canonical
  ) as known,
  pages.index_summary as index_summary_now,
  pages.is_monitored as is_monitored_now
from numbered
left join pages using (website_id, url)
where state_number <= $states::bigint and number <= $samples::bigint
order by state_number, number
