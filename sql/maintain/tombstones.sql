-- The rows of a tombstone: a row for each file, from lists of the same length.
select
  $tombstone_id::varchar as tombstone_id,
  $website_id::varchar as website_id,
  $tombstoned_at::timestamptz as tombstoned_at,
  unnest($table_names) as table_name,
  unnest($commit_ids) as commit_id,
  unnest($snapshot_ids) as snapshot_id,
  unnest($snapshot_ats)::timestamptz as snapshot_at,
  unnest($snapshot_dates)::date as snapshot_date,
  unnest($rows)::integer as rows,
  unnest($sums) as sha256,
  unnest($paths) as path,
  $reason::varchar as reason,
  $checkpoint_id::varchar as checkpoint_id,
  $checkpoint_sha256::varchar as checkpoint_sha256
