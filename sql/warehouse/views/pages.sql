-- One row per page: its last known listing and report, their ages, and the Yes/No texts as booleans. A page is monitored
-- unless the last complete listing lacks it.
create or replace view pages as
select
  *,
  index_summary = 'Indexed' as is_indexed,
  unlisted_since is null as is_monitored,
  report_indexing_allowed = 'Yes' as is_indexing_allowed,
  report_blocked_by_robots_txt = 'Yes' as is_blocked_by_robots_txt,
  report_ever_blocked_by_robots_txt = 'Yes' as was_ever_blocked_by_robots_txt,
  date_diff('day', listed_at, now()) as listing_age_days,
  date_diff('day', report_fetched_at, now()) as report_age_days
from page_state
