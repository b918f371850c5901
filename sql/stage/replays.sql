select
  $replay_id::varchar as replay_id,
  $snapshot_id::varchar as snapshot_id,
  $website_id::varchar as website_id,
  $snapshot_at::timestamptz as snapshot_at,
  $snapshot_date::date as snapshot_date,
  $replayed_at::timestamptz as replayed_at,
  $coverage_replayed::integer as coverage_replayed,
  $url_reports_replayed::integer as url_reports_replayed,
  $still_rejected::integer as still_rejected,
  $version::varchar as version,
  $files::varchar as files
