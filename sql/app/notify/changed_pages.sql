-- The pages that changed in a snapshot in the way that a rule watches (`$kind`): how many, their most frequent
-- directory and current state, and five of them; with `$is_still` only those that are not yet what they were. Files `$versions` of table `page_versions`; view
-- `page_state`: one row per page.
with changed as (
  select distinct url, is_uncrawled
  from (
    select
      snapshot_id,
      url,
      is_uncrawled(status, was_status, changes) as is_uncrawled,
      unnest(changes) as change,
      unnest(change_details, recursive := true)
    from read_parquet($versions, union_by_name = true, hive_partitioning = false)
  )
  where
    snapshot_id = $snapshot
    and case $kind
      when 'watched' then
        index_step(change, from_value, to_value) = -1
        and (
          regexp_matches(url, $pattern::varchar)
          or exists(
            from (select unnest($directories) as directory, unnest($texts) as part) as views
            where is_selected(url, null, nullif(views.directory, ''), views.part, null)
          )
        )
      when 'robots_blocked' then
        change = 'robots_blocked'
        or (change = 'coverage_state' and to_value = 'Blocked by robots.txt')
      when 'canonical_flips' then
        is_flip(change, from_value, to_value)
    end
),
found as (
  select
    changed.url,
    directory_of(changed.url) as directory,
    if(
      page_state.unlisted_since is null,
      coalesce(page_state.index_coverage_state, 'no data'),
      'no longer listed'
    ) as state,
    is_uncrawled
  from changed
  left join page_state on page_state.website_id = $website and page_state.url = changed.url
  where
    not $is_still
    or if(
      $kind = 'watched',
      page_state.index_summary is distinct from 'Indexed' or page_state.unlisted_since is not null,
      page_state.report_blocked_by_robots_txt = 'Yes' or page_state.index_coverage_state = 'Blocked by robots.txt'
    )
)
from places_of('found')
