select
  $run_id::varchar as run_id,
  $website_id::varchar as website_id,
  $started_at::timestamptz as started_at,
  $finished_at::timestamptz as finished_at,
  $outcome::varchar as outcome,
  $snapshot_id::varchar as snapshot_id,
  $error::varchar as error,
  $requests_sent::integer as requests_sent,
  $requests_throttled::integer as requests_throttled,
  $requests_retried::integer as requests_retried,
  $snapshot_date::date as snapshot_date
