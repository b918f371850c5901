-- The pages of which this commit says something else than was known, or of which nothing was known, with what changed.
-- Where a state is what an inspection says, the first one says what has long been so.
with versions as (
  select
    url,
    status,
    -- Nothing was said of a page whose entries were all rejected.
    if(was_listed_snapshot_id is null, null, was_status) as was_status,
    was_index_coverage_state,
    seen_now_at as observed_at,
    index_summary,
    index_coverage_state,
    canonicals_match,
    searchengine_selected_canonical,
    user_selected_canonical,
    last_crawl_time,
    last_known_crawl_time,
    report_fetched_at,
    report_index_summary,
    report_index_coverage_state,
    report_indexing_allowed,
    report_searchenginebot_primary_crawler,
    report_last_crawl_time,
    report_page_fetch_status,
    report_blocked_by_robots_txt,
    report_sitemaps,
    list_filter([
      page_change(appeared, 'appeared', null, if(first_data, null, index_summary), listing),
      page_change(first_data, 'first_data', null, index_summary, listing),
      page_change(
        disappears, if(getvariable('by_inspection'), 'retired', 'disappeared'), was_index_summary, null, listing
      ),
      page_change(
        of_listing and index_summary = 'Indexed' and was_index_summary is distinct from 'Indexed',
        'indexed', was_index_summary, index_summary, listing
      ),
      page_change(
        of_listing and was_index_summary = 'Indexed' and index_summary <> 'Indexed',
        'deindexed', was_index_summary, index_summary, listing
      ),
      page_change(
        of_listing and was_index_summary is not null and index_summary is null,
        'data_lost', was_index_summary, index_summary, listing
      ),
      page_change(
        of_listing and index_coverage_state is distinct from was_index_coverage_state,
        'coverage_state', was_index_coverage_state, index_coverage_state, listing
      ),
      page_change(
        of_listing and searchengine_selected_canonical is distinct from was_searchengine_selected_canonical,
        'searchengine_canonical', was_searchengine_selected_canonical, searchengine_selected_canonical, listing
      ),
      page_change(
        of_listing and user_selected_canonical is distinct from was_user_selected_canonical,
        'user_canonical', was_user_selected_canonical, user_selected_canonical, listing
      ),
      page_change(
        of_listing and canonicals_match is distinct from was_canonicals_match,
        'canonicals_match', was_canonicals_match::varchar, canonicals_match::varchar, listing
      ),
      page_change(
        recrawled and of_listing,
        'crawled',
        strftime(was_last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ'),
        strftime(last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ'),
        listing
      ),
      page_change(
        of_report and report_blocked_by_robots_txt = 'Yes' and was_report_blocked_by_robots_txt = 'No',
        'robots_blocked', 'No', 'Yes', report
      ),
      page_change(
        of_report and report_blocked_by_robots_txt = 'No' and was_report_blocked_by_robots_txt = 'Yes',
        'robots_unblocked', 'Yes', 'No', report
      ),
      page_change(
        of_report and report_page_fetch_status is distinct from was_report_page_fetch_status,
        'fetch_status', was_report_page_fetch_status, report_page_fetch_status, report
      ),
      page_change(
        of_report and report_indexing_allowed is distinct from was_report_indexing_allowed,
        'indexing_allowed', was_report_indexing_allowed, report_indexing_allowed, report
      ),
      page_change(
        of_report and sitemaps is distinct from was_sitemaps,
        'sitemaps', to_json(was_sitemaps)::varchar, to_json(sitemaps)::varchar, report
      ),
      page_change(
        of_report and report_searchenginebot_primary_crawler is distinct from was_report_searchenginebot_primary_crawler,
        'crawler', was_report_searchenginebot_primary_crawler, report_searchenginebot_primary_crawler, report
      )
    ], lambda change: change is not null) as made
  from (
    select
      *,
      getvariable('by_inspection') and listed and (known or appeared)
        and was_index_summary is null and index_summary is not null as first_data,
      (changed or recrawled) and not appeared and not first_data as of_listing,
      answered and was_report_snapshot_id is not null as of_report,
      list_sort(list_distinct(report_sitemaps)) as sitemaps,
      list_sort(list_distinct(was_report_sitemaps)) as was_sitemaps,
      {"from": was_listed_snapshot_id, "at": seen_now_at} as listing,
      {"from": was_report_snapshot_id, "at": report_fetched_at} as report
    from next_state
    where
      listed_snapshot_id is not null
      and (was_listed_snapshot_id is null or answered or changed or recrawled or appeared or status <> was_status)
  )
)
select
  * exclude (made),
  [one.change for one in made] as changes,
  [one.details for one in made] as change_details
from versions
