-- What the warehouse saw happen to each of the given pages, for a source that says only how pages are; the columns are
-- those of a report. Files `$changes` of table `page_changes`: one row per change.
select
  url,
  coalesce(bool_or('Indexed' in (from_value, to_value)), false) as previously_indexed,
  max(happened_at) filter (to_value = 'Indexed' and change in ('indexed', 'appeared', 'first_data')) as previously_indexed_timestamp,
  coalesce(bool_or(is_flip), false) as canonical_changed,
  max(happened_at) filter (is_flip) as canonical_changed_timestamp,
  arg_max(to_value, happened_at) filter (is_flip and change = 'searchengine_canonical')
    as canonical_changed_searchengine_canonical,
  arg_max(to_value, happened_at) filter (is_flip and change = 'user_canonical') as canonical_changed_user_canonical,
  coalesce(bool_or(change in ('robots_blocked', 'robots_unblocked')), false) as ever_blocked_by_robots_txt,
  max(happened_at) filter (change = 'robots_blocked') as ever_blocked_by_robots_txt_timestamp,
  min(happened_at) filter (change = 'appeared') as page_detection
from (
  select
    *,
    iso_time(observed_at) as happened_at,
    change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null as is_flip
  from read_parquet($changes, union_by_name = true, hive_partitioning = false)
)
where
  url >= $from_url::varchar
  and url < $to_url::varchar
  and url in (select unnest($urls))
group by url
