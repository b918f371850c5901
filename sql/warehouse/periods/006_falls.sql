-- The pages of `index_moves` that fell out of the index, with what was known when they fell: canonicals, and what the first
-- report since then says, or else the last one before.
create or replace macro falls(since_date, until_date) as table
with fell as (
  from index_moves(since_date, until_date) where move in ('fell_out', 'returned')
)
select
  fell.*,
  canonicals.searchengine as searchengine_selected_canonical,
  canonicals."user" as user_selected_canonical,
  report.fetched_at as report_fetched_at,
  report.fetch_status as report_page_fetch_status,
  report.blocked as report_blocked_by_robots_txt,
  report.allowed as report_indexing_allowed
from fell
join (
  select
    website_id,
    url,
    arg_min(
      {searchengine: searchengine_selected_canonical, "user": user_selected_canonical}, version.snapshot_id
    ) as canonicals,
    arg_min(
      {
        fetched_at: report_fetched_at,
        fetch_status: report_page_fetch_status,
        blocked: report_blocked_by_robots_txt,
        allowed: report_indexing_allowed
      },
      {is_older: coalesce(report_fetched_at < fell.observed_at, true), snapshot_id: version.snapshot_id}
    ) as report
  from page_versions as version
  join fell using (website_id, url)
  where version.snapshot_id >= fell.snapshot_id and version.snapshot_id <= fell.listing_id
  group by website_id, url
) using (website_id, url)
