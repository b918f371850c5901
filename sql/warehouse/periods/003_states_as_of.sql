-- Like `versions_as_of`, with what `page_state` knows, too: where a cut is a website's newest snapshot, the history is not read.
create or replace macro states_as_of(cuts) as table
with cut as not materialized (
  select *, snapshot_id = (select max(snapshot_id) from snapshots where snapshots.website_id = cut.website_id) as is_newest
  from (select unnest(cuts, recursive := true)) as cut
)
select
  website_id,
  url,
  status,
  index_coverage_state,
  searchengine_selected_canonical,
  user_selected_canonical,
  last_known_crawl_time,
  report_fetched_at,
  report_indexing_allowed,
  report_page_fetch_status,
  report_blocked_by_robots_txt,
  report_sitemaps,
  snapshot_id as as_of
from page_state
join cut using (website_id)
where is_newest and listed_snapshot_id is not null
union all by name
select columns(* exclude (
  snapshot_id, snapshot_at, snapshot_date, was_status, was_index_coverage_state, observed_at, index_summary, canonicals_match,
  last_crawl_time, report_index_summary, report_index_coverage_state, report_searchenginebot_primary_crawler,
  report_last_crawl_time, changes, change_details
))
from versions_as_of((
  select list({website_id: website_id, snapshot_id: snapshot_id}) from cut where not is_newest
))
