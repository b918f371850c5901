-- Each page of the current range as it is known after this commit, beside the state before (`was_`): the columns of
-- `page_state`, and those of `absences`.
create or replace temp table next_state as
with absences as (
  -- Absence counts only in complete listings; a quarantined URL is present. A page disappears from the listing with the
  -- first one that lacks it. It is given up (`disappeared_at`) when two in a row lacked it, or one did and its report
  -- answers 404; a fetched report resets that count. A page of a property leaves the listing when nothing has named it for
  -- long, and no inspection is asked about that.
  select
    *,
    absent and was_listed_snapshot_id is not null and was_unlisted_since is null as disappears,
    case
      when here then null
      when was_disappeared_at is not null then was_disappeared_at
      when absences >= 1 and (outcome = 'missing' or getvariable('by_inspection')) then attempted_at
      when absences >= 2 then getvariable('snapshot_at')
    end as disappeared_at
  from (
    select
      compared.*,
      attempt.outcome,
      attempt.attempted_at,
      coalesce(attempt.outcome = 'fetched', false) as answered,
      present or (answered and not getvariable('by_inspection')) as here,
      not present and known and getvariable('listing_complete') as absent,
      case
        when here then 0
        when getvariable('listing_complete') then was_absences + 1
        else was_absences
      end::integer as absences
    from compared
    left join report_attempts as attempt on attempt.url = compared.url
  )
)
select
  -- Of the state before, only what `page_versions` compares: the table has a row for every page.
  columns(lambda name: not starts_with(name, 'was_')),
  was_status,
  was_listed_snapshot_id,
  was_index_summary,
  was_index_coverage_state,
  was_canonicals_match,
  was_searchengine_selected_canonical,
  was_user_selected_canonical,
  was_last_crawl_time,
  was_report_snapshot_id,
  was_report_indexing_allowed,
  was_report_searchenginebot_primary_crawler,
  was_report_page_fetch_status,
  was_report_blocked_by_robots_txt,
  was_report_sitemaps,
  coalesce(was_first_data_at, if(index_summary is not null, seen_now_at, null)) as first_data_at,
  greatest(last_crawl_time, report_last_crawl_time, was_last_known_crawl_time) as last_known_crawl_time,
  page_status(
    index_summary,
    listed_snapshot_id is not null,
    unlisted_since,
    getvariable('by_inspection'),
    report_fetched_at,
    first_data_at
  ) as status,
  status is distinct from was_status and (status = 'indexed' or was_status = 'indexed') as moved,
  coalesce(was_first_indexed_at, if(status = 'indexed', seen_now_at, null)) as first_indexed_at,
  if(status = 'indexed', if(moved, seen_now_at, was_index_since), null) as index_since,
  if(moved and was_status = 'indexed' and status <> 'retired', seen_now_at, was_fell_at) as fell_at
from (
  select
    getvariable('website_id')::varchar as website_id,
    now.url,
    coalesce(was_first_seen_at, seen_at, attempted_at) as first_seen_at,
    coalesce(seen_at, was_last_seen_at, attempted_at) as last_seen_at,
    if(listed, getvariable('snapshot_id')::varchar, was_listed_snapshot_id) as listed_snapshot_id,
    if(listed, now.listed_at, was_listed_at) as listed_at,
    if(listed, now.index_summary, was_index_summary) as index_summary,
    if(listed, now.index_coverage_state, was_index_coverage_state) as index_coverage_state,
    if(listed, now.canonicals_match, was_canonicals_match) as canonicals_match,
    if(listed, now.canonicals_match_present, was_canonicals_match_present) as canonicals_match_present,
    if(listed, now.searchengine_selected_canonical, was_searchengine_selected_canonical)
      as searchengine_selected_canonical,
    if(listed, now.user_selected_canonical, was_user_selected_canonical) as user_selected_canonical,
    if(listed, now.last_crawl_time, was_last_crawl_time) as last_crawl_time,
    if(listed, now.spelling, was_spelling) as spelling,
    if(answered, getvariable('snapshot_id')::varchar, was_report_snapshot_id) as report_snapshot_id,
    if(answered, report.fetched_at, was_report_fetched_at) as report_fetched_at,
    if(answered, report.index_summary, was_report_index_summary) as report_index_summary,
    if(answered, report.index_coverage_state, was_report_index_coverage_state) as report_index_coverage_state,
    if(answered, report.indexing_allowed, was_report_indexing_allowed) as report_indexing_allowed,
    if(answered, report.searchenginebot_primary_crawler, was_report_searchenginebot_primary_crawler)
      as report_searchenginebot_primary_crawler,
    if(answered, report.last_crawl_time, was_report_last_crawl_time) as report_last_crawl_time,
    if(answered, report.page_fetch_status, was_report_page_fetch_status) as report_page_fetch_status,
    if(answered, report.blocked_by_robots_txt, was_report_blocked_by_robots_txt) as report_blocked_by_robots_txt,
    if(answered, report.ever_blocked_by_robots_txt, was_report_ever_blocked_by_robots_txt)
      as report_ever_blocked_by_robots_txt,
    if(answered, report.sitemaps, was_report_sitemaps) as report_sitemaps,
    if(answered, report.inspection_link, was_report_inspection_link) as report_inspection_link,
    if(answered, report.inspection_date, was_report_inspection_date) as report_inspection_date,
    if(answered, report.page_detection, was_report_page_detection) as report_page_detection,
    if(answered, report.rich_results_verdict, was_report_rich_results_verdict) as report_rich_results_verdict,
    if(listed, now.last_named_at, was_last_named_at) as last_named_at,
    if(listed, now.named_by, was_named_by) as named_by,
    case
      when last_named_at = listed_at then null
      else coalesce(was_unnamed_since, if(unnamed, getvariable('snapshot_at'), null))
    end as unnamed_since,
    -- What a page is waiting for stays until its report arrives, however many nights the budget ends before it.
    case
      -- A state that just changed is looked at again, until it stays; what nothing names any more once.
      when getvariable('by_inspection') and answered then if(changed and was_index_summary is not null, 'changed', null)
      when getvariable('by_inspection') then if(unnamed and was_unnamed_since is null, 'missing', was_report_wanted)
      when answered then null
      when changed or was_report_wanted = 'changed' then 'changed'
      when recrawled or was_report_wanted = 'recrawled' then 'recrawled'
    end as report_wanted,
    now.absences,
    case
      when answered or outcome = 'unconfirmed' then 0
      when outcome is not null then was_consecutive_failures + 1
      else was_consecutive_failures
    end::integer as consecutive_failures,
    -- Until an answer, its status is what was confirmed last.
    answered or (coalesce(was_is_confirmed, true) and outcome is distinct from 'unconfirmed') as is_confirmed,
    case
      when answered or outcome = 'unconfirmed' then null
      when outcome is not null then attempted_at
      else was_last_failure_at
    end as last_failure_at,
    now.disappeared_at,
    case
      when listed then null
      when present and not listed and is_new then seen_at
      when absent and (was_unlisted_since is null or was_absences = 0) then getvariable('snapshot_at')
      else was_unlisted_since
    end as unlisted_since,
    if(listed, now.listed_at, getvariable('snapshot_at')) as seen_now_at,
    now.* exclude (
      url, listed_at, index_summary, index_coverage_state, canonicals_match, canonicals_match_present,
      searchengine_selected_canonical, user_selected_canonical, last_crawl_time, absences, disappeared_at,
      last_named_at, named_by, spelling
    )
  from absences as now
  left join ranged_url_reports as report on report.url = now.url
)
