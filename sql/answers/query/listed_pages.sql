-- The pages as the last complete listing up to a date shows them (null: the newest one), in the columns of `page_state`.
-- What a partial listing found since counts in the next complete one. Until the first one, it is all that is known. Reports
-- and crawls are those of now.
create or replace macro listed_pages(day) as table
with listings as (
  select
    website_id,
    max(snapshot_id) as newest_id,
    coalesce(
      max(snapshot_id) filter (listing_status = 'complete' and snapshot_date <= coalesce(day, snapshot_date)),
      if(day is null, newest_id, null)
    ) as listing_id
  from snapshots
  group by website_id
)
from page_state where website_id in (select website_id from listings where listing_id = newest_id)
union all
select
  page_state.* replace (
    known.status as status,
    known.index_summary as index_summary,
    known.index_coverage_state as index_coverage_state,
    known.searchengine_selected_canonical as searchengine_selected_canonical,
    known.user_selected_canonical as user_selected_canonical,
    if(is_listed(known.status), null, coalesce(unlisted_since, known.snapshot_at)) as unlisted_since
  )
from page_state
join versions_as_of((
  select list({website_id: website_id, snapshot_id: listing_id}) from listings where listing_id < newest_id
)) as known using (website_id, url)
