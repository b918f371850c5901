-- The days of search analytics that a snapshot fetched: one row per day and type, also without any page. `clicks` and
-- `impressions` are those of the whole property, as Google counts them; in a day that `is_cut`, the pages with the fewest
-- clicks have no row. A day that became `unknown` has a row without figures.
create table search_fetches (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  "date" date not null,
  "type" varchar not null,
  is_final boolean not null,
  is_cut boolean not null,
  pages integer,
  clicks bigint,
  impressions bigint,
  fetched_at timestamptz not null,
  unknown varchar
)
