-- The listing of each commit, counted, so that trends read a few rows instead of every page of every snapshot.
-- `directory` is the first directory of the URL's path, `/` for pages at the root, or `(other)` beyond the 500 largest
-- of the commit; `crawled` counts pages with a `last_crawl_time`, and `days_since_crawl_total` is the sum of the days
-- since. A replay's commit has rows for what it adds, so the sums over a `snapshot_id` are those of its listing.
create table coverage_summary (
  commit_id varchar not null,
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  directory varchar not null,
  index_summary varchar,
  index_coverage_state varchar,
  canonicals_match boolean,
  pages integer not null,
  crawled integer not null,
  days_since_crawl_total bigint not null
)
