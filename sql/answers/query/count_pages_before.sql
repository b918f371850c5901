-- How many pages of the complete listing of a date are selected. Their reports are those of now.
with listed as (
  select
    now.* replace (
      coverage.index_summary as index_summary,
      coverage.index_coverage_state as index_coverage_state,
      coverage.searchengine_selected_canonical as searchengine_selected_canonical,
      coverage.user_selected_canonical as user_selected_canonical,
      null as unlisted_since
    )
  from coverage
  join page_state as now using (website_id, url)
  where
    coverage.snapshot_id = (
      select max(snapshot_id)
      from snapshots
      where website_id = $website::varchar and listing_status = 'complete' and snapshot_date = $listed::date
    )
    and coverage.website_id = $website::varchar
)
select count(*)::integer as pages from selected_pages($filters::json, null, listing := 'listed')
