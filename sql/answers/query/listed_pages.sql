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
    known.engine as searchengine_selected_canonical,
    known."user" as user_selected_canonical,
    if(is_listed(known.status), null, coalesce(unlisted_since, known."at")) as unlisted_since
  )
from page_state
join (
  -- With one pass over the history, which is not read at all if no listing is partial.
  select
    website_id,
    url,
    arg_max(
      {
        status: status,
        index_summary: index_summary,
        index_coverage_state: index_coverage_state,
        engine: searchengine_selected_canonical,
        "user": user_selected_canonical,
        "at": snapshot_at
      },
      snapshot_id
    ) as known
  from page_versions
  join (from listings where listing_id < newest_id) using (website_id)
  where snapshot_id <= listing_id
  group by website_id, url
) using (website_id, url)
