-- One row per page: its last known listing and report, their ages, and the Yes/No texts as booleans.
create or replace view pages as
select
  *,
  (index_summary = 'Indexed')::Nullable(Bool) as is_indexed,
  (disappeared_at is null)::Bool as is_monitored,
  (report_indexing_allowed = 'Yes')::Nullable(Bool) as is_indexing_allowed,
  (report_blocked_by_robots_txt = 'Yes')::Nullable(Bool) as is_blocked_by_robots_txt,
  (report_ever_blocked_by_robots_txt = 'Yes')::Nullable(Bool) as was_ever_blocked_by_robots_txt,
  dateDiff('day', listed_at, now('UTC')) as listing_age_days,
  dateDiff('day', report_fetched_at, now('UTC')) as report_age_days
from page_state
