-- One row per page: its status, its last known listing and report, and their ages when the website's newest snapshot
-- started. What only planning needs, and what its report says again, is in `page_state`.
create or replace view pages as
select
  * exclude (
    absences, disappeared_at, canonicals_match_present, report_wanted, last_failure_at, report_index_summary,
    report_index_coverage_state, report_inspection_link, report_last_crawl_time, report_indexing_allowed,
    report_blocked_by_robots_txt, report_ever_blocked_by_robots_txt
  ),
  index_summary = 'Indexed' as is_indexed,
  is_listed(status) as is_listed,
  report_indexing_allowed = 'Yes' as is_indexing_allowed,
  report_blocked_by_robots_txt = 'Yes' as is_blocked_by_robots_txt,
  report_ever_blocked_by_robots_txt = 'Yes' as was_ever_blocked_by_robots_txt,
  directory_of(url) as directory,
  host_of(url) as host,
  template_of(url) as template,
  days_between(listed_at, newest_at) as listing_age_days,
  days_between(report_fetched_at, newest_at) as report_age_days
from page_state
join (select website_id, max(snapshot_at) as newest_at from snapshots group by website_id) using (website_id)
