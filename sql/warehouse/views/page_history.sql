-- What was known of each page, and from when until when: one row per website, page and period without a change. `valid_to` is
-- null for what is known now.
create or replace view page_history as
select
  * exclude (
    snapshot_at, was_status, was_index_coverage_state, report_index_summary, report_index_coverage_state,
    report_last_crawl_time
  ),
  canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals,
  is_listed(status) as is_listed,
  snapshot_at as valid_from,
  lead(snapshot_at) over (partition by website_id, url order by snapshot_id) as valid_to
from page_versions
