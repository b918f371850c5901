-- One row per Parquet file that `maintain` removed: readers ignore the file from then on, and an hour later it may be
-- deleted. `path` is relative to the warehouse folder; `checkpoint_id` is the commit whose state was saved before the
-- removal.
create table tombstones (
  tombstone_id varchar not null,
  website_id varchar not null,
  tombstoned_at timestamptz not null,
  table_name varchar not null,
  snapshot_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  rows integer not null,
  sha256 varchar not null,
  path varchar not null,
  reason varchar not null,
  checkpoint_id varchar not null,
  checkpoint_sha256 varchar not null
)
