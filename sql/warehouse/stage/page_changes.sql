with different as materialized (
  select
    url,
    listed_at,
    appeared,
    changed,
    recrawled,
    index_summary,
    index_coverage_state,
    searchengine_selected_canonical,
    user_selected_canonical,
    canonicals_match,
    last_crawl_time,
    -- Where a state is what an inspection says, the first one says what has long been so.
    getvariable('by_inspection') and listed and was_index_summary is null and index_summary is not null as first_data,
    was_listed_snapshot_id,
    was_index_summary,
    was_index_coverage_state,
    was_searchengine_selected_canonical,
    was_user_selected_canonical,
    was_canonicals_match,
    was_last_crawl_time,
    disappears
  from absences
  where appeared or changed or recrawled or disappears
),
listing_changes as (
  select url, listed_at as observed_at, was_listed_snapshot_id as from_snapshot_id, unnest([
    {
      change: 'indexed',
      from_value: was_index_summary,
      to_value: index_summary,
      happened: index_summary = 'Indexed' and was_index_summary is distinct from 'Indexed'
    },
    {
      change: 'deindexed',
      from_value: was_index_summary,
      to_value: index_summary,
      happened: was_index_summary = 'Indexed' and index_summary <> 'Indexed'
    },
    {
      change: 'data_lost',
      from_value: was_index_summary,
      to_value: index_summary,
      happened: was_index_summary is not null and index_summary is null
    },
    {
      change: 'coverage_state',
      from_value: was_index_coverage_state,
      to_value: index_coverage_state,
      happened: index_coverage_state is distinct from was_index_coverage_state
    },
    {
      change: 'searchengine_canonical',
      from_value: was_searchengine_selected_canonical,
      to_value: searchengine_selected_canonical,
      happened: searchengine_selected_canonical is distinct from was_searchengine_selected_canonical
    },
    {
      change: 'user_canonical',
      from_value: was_user_selected_canonical,
      to_value: user_selected_canonical,
      happened: user_selected_canonical is distinct from was_user_selected_canonical
    },
    {
      change: 'canonicals_match',
      from_value: was_canonicals_match::varchar,
      to_value: canonicals_match::varchar,
      happened: canonicals_match is distinct from was_canonicals_match
    },
    {
      change: 'crawled',
      from_value: strftime(was_last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ'),
      to_value: strftime(last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ'),
      happened: recrawled
    }
  ], recursive := true)
  from different
  where (changed or recrawled) and not appeared and not first_data
),
report_changes as (
  select now.url, now.fetched_at as observed_at, was.report_snapshot_id as from_snapshot_id, unnest([
    {
      change: 'robots_blocked',
      from_value: was.report_blocked_by_robots_txt,
      to_value: now.blocked_by_robots_txt,
      happened: now.blocked_by_robots_txt = 'Yes' and was.report_blocked_by_robots_txt = 'No'
    },
    {
      change: 'robots_unblocked',
      from_value: was.report_blocked_by_robots_txt,
      to_value: now.blocked_by_robots_txt,
      happened: now.blocked_by_robots_txt = 'No' and was.report_blocked_by_robots_txt = 'Yes'
    },
    {
      change: 'fetch_status',
      from_value: was.report_page_fetch_status,
      to_value: now.page_fetch_status,
      happened: now.page_fetch_status is distinct from was.report_page_fetch_status
    },
    {
      change: 'indexing_allowed',
      from_value: was.report_indexing_allowed,
      to_value: now.indexing_allowed,
      happened: now.indexing_allowed is distinct from was.report_indexing_allowed
    },
    {
      change: 'sitemaps',
      from_value: to_json(list_sort(list_distinct(was.report_sitemaps)))::varchar,
      to_value: to_json(list_sort(list_distinct(now.sitemaps)))::varchar,
      happened: list_sort(list_distinct(now.sitemaps))
        is distinct from list_sort(list_distinct(was.report_sitemaps))
    },
    {
      change: 'crawler',
      from_value: was.report_searchenginebot_primary_crawler,
      to_value: now.searchenginebot_primary_crawler,
      happened: now.searchenginebot_primary_crawler is distinct from was.report_searchenginebot_primary_crawler
    }
  ], recursive := true)
  from ranged_state as was
  join ranged_url_reports as now on now.url = was.url
  where was.report_snapshot_id is not null
)
select
  url,
  change,
  from_value,
  to_value,
  from_snapshot_id,
  getvariable('snapshot_id')::varchar as to_snapshot_id,
  observed_at
from (
  select url, 'appeared' as change, null as from_value, if(first_data, null, index_summary) as to_value,
    was_listed_snapshot_id as from_snapshot_id, listed_at as observed_at
  from different
  where appeared
  union all
  select url, 'first_data', null, index_summary, was_listed_snapshot_id, listed_at
  from different
  where first_data
  union all
  select url, 'disappeared', was_index_summary, null, was_listed_snapshot_id, getvariable('snapshot_at')
  from different
  where disappears
  union all
  select url, change, from_value, to_value, from_snapshot_id, observed_at
  from listing_changes
  where happened
  union all
  select url, change, from_value, to_value, from_snapshot_id, observed_at
  from report_changes
  where happened
)
