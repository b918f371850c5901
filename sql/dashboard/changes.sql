-- The changes of a website since a date, newest first: of some kinds, of one page or of pages whose URL holds a text.
-- View `page_changes`: one row per change.
select
  snapshot_date::varchar as snapshot_date,
  iso_time(observed_at) as observed_at,
  -- Texts may have megabytes.
  left(url, 17000) as url,
  change,
  left(from_value, 2000) as from_value,
  left(to_value, 2000) as to_value
from page_changes
where
  website_id = $website::varchar
  and ($since::date is null or snapshot_date >= $since::date)
  and ($url::varchar is null or url = $url::varchar)
  and ($url_contains::varchar is null or contains(lower(url), lower($url_contains::varchar)))
  and list_contains($kinds, change)
order by observed_at desc, url, change
limit $limit::bigint
offset $skip::bigint
