-- What the warehouse saw happen to a page, for a source that says only how pages are; the columns are those of a report. Files `$versions` of table `page_versions`.
select
  bool_or(coalesce('Indexed' in (from_value, to_value), false)) as previously_indexed,
  iso_time(max(observed_at) filter (index_step(change, from_value, to_value) = 1)) as previously_indexed_timestamp,
  bool_or(is_flip(change, from_value, to_value)) as canonical_changed,
  iso_time(max(observed_at) filter (is_flip(change, from_value, to_value))) as canonical_changed_timestamp,
  arg_max(to_value, observed_at) filter (change = 'searchengine_canonical' and is_flip(change, from_value, to_value))
    as canonical_changed_searchengine_canonical,
  arg_max(to_value, observed_at) filter (change = 'user_canonical' and is_flip(change, from_value, to_value))
    as canonical_changed_user_canonical,
  bool_or(change in ('robots_blocked', 'robots_unblocked')) as ever_blocked_by_robots_txt,
  iso_time(max(observed_at) filter (change = 'robots_blocked')) as ever_blocked_by_robots_txt_timestamp,
  iso_time(min(observed_at) filter (change = 'appeared')) as page_detection
from (
  select url, unnest(changes) as change, unnest(change_details, recursive := true)
  from read_parquet($versions, union_by_name = true, hive_partitioning = false)
)
where url = $url::varchar
having count(*) > 0
