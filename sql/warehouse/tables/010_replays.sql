-- One row per replay: quarantined records of one snapshot that the contract accepts now. As a Parquet file it is also a
-- marker: it makes the replayed rows visible, whose `commit_id` is its id.
create table replays (
  replay_id varchar not null,
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  replayed_at timestamptz not null,
  coverage_replayed integer not null,
  url_reports_replayed integer not null,
  still_rejected integer not null,
  version varchar not null,
  files json not null
)
