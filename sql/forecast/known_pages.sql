-- What a plan reads of the newest states, once for all websites. View `page_state`: those states.
create temp table known_pages as
select
  website_id,
  url,
  absences,
  report_wanted,
  report_snapshot_id,
  report_fetched_at,
  consecutive_failures,
  disappeared_at
from page_state
