-- What was known of each page at the end of a date, or of one snapshot by its id: the columns of `page_history`, for any date
-- that the warehouse has seen, whatever retention removed.
create or replace macro pages_as_of(moment) as table
select
  * exclude (
    snapshot_at, was_status, was_index_coverage_state, report_index_summary, report_index_coverage_state,
    report_last_crawl_time, changes, change_details, as_of
  ),
  canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals,
  is_listed(status) as is_listed,
  snapshot_at as valid_from
from versions_as_of((
  select list(cut)
  from (
    select {website_id: website_id, snapshot_id: max(snapshot_id)} as cut
    from snapshots
    where snapshot_id = moment::varchar or snapshot_date <= try_cast(moment::varchar as date)
    group by website_id
  )
))
