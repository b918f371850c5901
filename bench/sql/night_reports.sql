-- The reports that are fetched in the night in the fields of the interface.
create or replace temp view night_reports as
select
  url,
  reason,
  make_timestamptz(1000 * (epoch_ms(getvariable('snapshot_at')::timestamptz) + 120000
    + (1000 * row_number() over (order by reason, page) + hash(page, 40) % 300)::bigint)) as "at",
  {
    url: url,
    index_summary: index_summary,
    index_coverage_state: index_coverage_state,
    indexing_allowed: if(is_fetched, if(is_noindex, 'No', 'Yes'), null),
    searchengine_selected_canonical: searchengine_selected_canonical,
    user_selected_canonical: user_selected_canonical,
    searchenginebot_primary_crawler: if(is_fetched, crawler, null),
    last_crawl_time: last_crawl_time,
    days_since_last_crawl: days_since_last_crawl,
    page_fetch_status: case
      when not is_fetched then null
      when index_coverage_state in ('Not found (404)', 'Soft 404', 'Server error (5xx)', 'Blocked by robots.txt')
        then index_coverage_state
      else 'Successful'
    end,
    blocked_by_robots_txt: if(is_fetched, if(is_blocked, 'Yes', 'No'), null),
    sitemaps: if(
      index_coverage_state = 'Indexed, not submitted in sitemap',
      []::varchar[],
      ['https://www.example.com/sitemap' || coalesce(regexp_extract(url, 'com/([a-z]+)/', 1), '') || '.xml']
    ),
    inspection_date: inspected_at,
    page_detection: detected_at,
    inspection_link: inspection_link || 'latest',
    service_link: service_link,
    previously_indexed: if(was_left, 'Yes', 'No'),
    previously_indexed_timestamp: if(was_left, detected_at + to_days(30), null),
    previously_indexed_link: if(was_left, inspection_link || '12', null),
    canonical_changed: if(was_recanonicalised, 'Yes', 'No'),
    canonical_changed_searchengine_canonical: if(was_recanonicalised, other_url, null),
    canonical_changed_user_canonical: if(was_recanonicalised, url, null),
    canonical_changed_timestamp: if(was_recanonicalised, detected_at + to_days(60), null),
    canonical_changed_link: if(was_recanonicalised, inspection_link || '34', null),
    ever_blocked_by_robots_txt: if(was_blocked, 'Yes', 'No'),
    ever_blocked_by_robots_txt_timestamp: if(was_blocked, detected_at + to_days(90), null),
    ever_blocked_by_robots_txt_link: if(was_blocked, inspection_link || '56', null)
  } as report
from night_pages
where is_reported
