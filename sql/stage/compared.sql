-- Each page as this commit lists it, beside its own last known listing. A replay tells what a page was listed as, not
-- that it was there: the quarantined entry has told that already. New in it is only a page that nothing before had. A
-- page that came, or came back, in a quarantined entry appears with the first entry after it that can be read.
create or replace temp view compared as
select
  *,
  case
    when getvariable('is_replay') then
      listed and (
        coalesce(listed_at >= was_unlisted_since, false)
        or (
          was_listed_snapshot_id is null and getvariable('had_complete')
          and (not known or was_first_seen_at >= listed_at)
        )
      )
    else
      listed and (lacked or was_unlisted_since is not null)
  end as appeared,
  listed and was_listed_snapshot_id is not null and (
    index_summary is distinct from was_index_summary
    or index_coverage_state is distinct from was_index_coverage_state
    or canonicals_match is distinct from was_canonicals_match
    or searchengine_selected_canonical is distinct from was_searchengine_selected_canonical
    or user_selected_canonical is distinct from was_user_selected_canonical
  ) as changed,
  listed and was_listed_snapshot_id is not null
    and last_crawl_time is not null
    and last_crawl_time is distinct from was_last_crawl_time as recrawled
from (
  select
    coalesce(was.url, now.url) as url,
    coalesce(now.listed, false) as listed,
    not getvariable('is_replay') and now.url is not null as present,
    was.url is not null as known,
    -- Whether a complete listing lacked it before it was there now.
    case
      when was.url is null then getvariable('had_complete')
      else was.absences > 0 or was.disappeared_at is not null
    end as lacked,
    case
      when getvariable('is_replay') then greatest(now.listed_at, was.last_seen_at)
      else coalesce(now.listed_at, now.quarantined_at)
    end as seen_at,
    now.listed_at,
    now.index_summary,
    now.index_coverage_state,
    now.canonicals_match,
    now.canonicals_match_present,
    now.searchengine_selected_canonical,
    now.user_selected_canonical,
    now.last_crawl_time,
    was.first_seen_at as was_first_seen_at,
    was.last_seen_at as was_last_seen_at,
    was.listed_snapshot_id as was_listed_snapshot_id,
    was.listed_at as was_listed_at,
    was.index_summary as was_index_summary,
    was.index_coverage_state as was_index_coverage_state,
    was.canonicals_match as was_canonicals_match,
    was.canonicals_match_present as was_canonicals_match_present,
    was.searchengine_selected_canonical as was_searchengine_selected_canonical,
    was.user_selected_canonical as was_user_selected_canonical,
    was.last_crawl_time as was_last_crawl_time,
    was.report_snapshot_id as was_report_snapshot_id,
    was.report_fetched_at as was_report_fetched_at,
    was.report_index_summary as was_report_index_summary,
    was.report_index_coverage_state as was_report_index_coverage_state,
    was.report_indexing_allowed as was_report_indexing_allowed,
    was.report_searchenginebot_primary_crawler as was_report_searchenginebot_primary_crawler,
    was.report_last_crawl_time as was_report_last_crawl_time,
    was.report_page_fetch_status as was_report_page_fetch_status,
    was.report_blocked_by_robots_txt as was_report_blocked_by_robots_txt,
    was.report_ever_blocked_by_robots_txt as was_report_ever_blocked_by_robots_txt,
    was.report_sitemaps as was_report_sitemaps,
    was.report_inspection_date as was_report_inspection_date,
    was.report_page_detection as was_report_page_detection,
    was.report_wanted as was_report_wanted,
    was.unlisted_since as was_unlisted_since,
    coalesce(was.absences, 0) as was_absences,
    coalesce(was.consecutive_failures, 0) as was_consecutive_failures,
    was.last_failure_at as was_last_failure_at,
    was.disappeared_at as was_disappeared_at
  from ranged_state as was
  full join (
    select
      coalesce(entry.url, quarantined.url) as url,
      entry.url is not null as listed,
      entry.* exclude (url),
      quarantined.received_at as quarantined_at
    from ranged_coverage as entry
    full join (
      select url, max(received_at) as received_at
      from ranged_rejected_records
      where source = 'coverage' and url is not null
      group by url
    ) as quarantined on quarantined.url = entry.url
  ) as now on now.url = was.url
)
