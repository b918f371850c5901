-- A change of a page, in words.
create or replace macro change_text(change, from_value, to_value) as case change
  when 'appeared' then 'appeared in the listing' || coalesce(', ' || lower(to_value), '')
  when 'first_data' then 'inspected for the first time: ' || lower(to_value)
  when 'disappeared' then 'gone from the listing'
  when 'retired' then 'retired: not named for a long time'
  when 'indexed' then 'entered the index'
  when 'deindexed' then 'left the index'
  when 'data_lost' then 'inspection data lost'
  when 'crawled' then 'crawled'
  -- Lists as JSON.
  when 'sitemaps' then 'sitemaps: '
    || coalesce(nullif(replace(replace(trim(from_value, '[]'), '","', ', '), '"', ''), ''), '(none)') || ' → '
    || coalesce(nullif(replace(replace(trim(to_value, '[]'), '","', ', '), '"', ''), ''), '(none)')
  when 'robots_blocked' then 'blocked by robots.txt'
  when 'robots_unblocked' then 'no longer blocked by robots.txt'
  else case change
    when 'coverage_state' then 'state'
    when 'searchengine_canonical' then 'canonical'
    when 'user_canonical' then 'declared canonical'
    when 'fetch_status' then 'fetch'
    when 'indexing_allowed' then 'indexing allowed'
    else change
  end || ': ' || coalesce(from_value, '(none)') || ' → ' || coalesce(to_value, '(none)')
end
