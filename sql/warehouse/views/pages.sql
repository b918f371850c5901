-- One row per page: its status, its last known listing and report, and their ages when the website's newest snapshot
-- started. What only planning needs, and what its report says again, is in `page_state`. `clicks` to `last_impression_date`
-- are those of `page_search`; null, except for the date, only without any day of search analytics. `evidence` of a page of
-- a property that has such days: `seen` if search showed it within the last seven days that are final and no inspection of
-- the last 30 days says what it is, else `inspected` if any inspection does, else `none`. An inspection that says not
-- indexed holds; `is_contradicted` if search still showed the page a week later.
create or replace view pages as
select
  * exclude (
    absences, disappeared_at, canonicals_match_present, report_wanted, last_failure_at, report_index_summary,
    report_index_coverage_state, report_inspection_link, report_last_crawl_time, report_indexing_allowed,
    report_blocked_by_robots_txt, report_ever_blocked_by_robots_txt, first_date, last_final_date, last_date,
    clicks, impressions, "position", days_shown, first_impression_date, last_impression_date
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
  days_between(report_fetched_at, newest_at) as report_age_days,
  if(last_final_date is null, null, coalesce(clicks, 0)) as clicks,
  if(last_final_date is null, null, coalesce(impressions, 0)) as impressions,
  "position",
  last_impression_date,
  case
    when last_final_date is null then null
    when
      is_shown_lately(last_impression_date, last_final_date)
      and (status = 'not_inspected' or (status = 'indexed' and report_fetched_at < newest_at - interval 30 days))
    then 'seen'
    when status = 'not_inspected' then 'none'
    else 'inspected'
  end as evidence,
  coalesce(
    status = 'not_indexed' and is_shown_later(last_impression_date, california_date(report_fetched_at)), false
  ) as is_contradicted
from page_state
join (select website_id, arg_max(snapshot_at, snapshot_id) as newest_at from snapshots group by website_id) using (website_id)
left join search_ends using (website_id)
left join page_search using (website_id, url)
