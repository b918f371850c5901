-- Every page that is monitored on a night, as the service shows it then: a function of the page and the night alone.
create or replace temp table night_pages as
with moved as (
  select
    *,
    epoch_ms(getvariable('snapshot_at')::timestamptz) as now_ms,
    getvariable('night')::integer as night,
    (night + change_phase) % change_every as since_change,
    (night + crawl_phase) % crawl_every as since_crawl,
    hash(page, 30, (night + change_phase) // change_every) % 1000 as lot
  from website_pages
  where getvariable('night')::integer between born and dies - 1
),
stated as (
  select
    *,
    case
      when lot < 660 then 'Submitted and indexed'
      when lot < 830 then 'Indexed, not submitted in sitemap'
      when lot < 865 then 'Crawled - currently not indexed'
      when lot < 900 then 'Discovered - currently not indexed'
      when lot < 915 then 'URL is unknown'
      when lot < 927 then 'Page with redirect'
      when lot < 939 then 'Not found (404)'
      when lot < 944 then 'Soft 404'
      when lot < 947 then 'Server error (5xx)'
      when lot < 953 then 'Excluded by ''noindex'' tag'
      when lot < 965 then 'Blocked by robots.txt'
      when lot < 980 then 'Alternate page with proper canonical tag'
      when lot < 985 then 'Duplicate without user-selected canonical'
      when lot < 995 then 'Duplicate, search engine chose different canonical than user'
    end as state
  from moved
)
select
  page,
  url,
  night,
  since_change = 0 or (night + report_phase) % getvariable('report_every')::integer = 0 or (night = born and night > 0) as is_reported,
  if(since_change = 0, 'changed', if(night = born and night > 0, 'new', 'oldest')) as reason,
  -- A thousand pages to a window, a window a second; then a report a second.
  make_timestamptz(1000 * (now_ms + 1000 * (page // 1000))) as listed_at,
  case when state is null then null when lot < 830 then 'Indexed' else 'Not Indexed' end as index_summary,
  state as index_coverage_state,
  case
    when lot < 830 then url
    when state in ('Page with redirect', 'Alternate page with proper canonical tag')
      or starts_with(state, 'Duplicate') then other_url
  end as searchengine_selected_canonical,
  if(declares_canonical and state is not null and lot not between 865 and 947, url, null) as user_selected_canonical,
  state is not null and state not in ('Discovered - currently not indexed', 'URL is unknown') as is_fetched,
  if(is_fetched, 7200000 + since_crawl * 86400000 + (hash(page, 31, night - since_crawl) % 75600000)::bigint, null)
    as crawled_ms_ago,
  make_timestamptz(1000 * (now_ms - crawled_ms_ago)) as last_crawl_time,
  (crawled_ms_ago // 86400000)::integer as days_since_last_crawl,
  crawler,
  state = 'Excluded by ''noindex'' tag' as is_noindex,
  state = 'Blocked by robots.txt' as is_blocked,
  hash(page, 32) % 100 < 15 as was_left,
  hash(page, 33) % 100 < 4 as was_recanonicalised,
  hash(page, 34) % 100 < 3 as was_blocked,
  other_url,
  inspection_link,
  service_link,
  make_timestamptz(1000 * (now_ms - since_crawl * 86400000 - (hash(page, 35, night - since_crawl) % 7200000)::bigint))
    as inspected_at,
  detected_at
from stated
