-- The listing of each commit, counted, so that trends read a few rows instead of every page of every snapshot.
-- `directory` is the first directory of the URL's path, `/` for pages at the root, or `(other)` beyond the 500 largest
-- of the commit. A page whose record is quarantined counts with its last known state.
create table coverage_summary (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  directory varchar not null,
  index_summary varchar,
  index_coverage_state varchar,
  canonicals_match boolean,
  pages integer not null,
  status varchar not null
)
