-- What named the pages of a property when they were listed: one row per snapshot and place, and the result of reading it.
create table listing_sources (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  source varchar not null,
  kind varchar not null,
  named_by varchar[] not null,
  http_status integer,
  entries integer not null,
  pages integer not null,
  only_here integer not null,
  pages_before integer not null,
  pages_unnamed integer not null,
  error varchar,
  remark varchar,
  last_downloaded timestamptz,
  errors bigint,
  warnings bigint,
  is_pending boolean,
  is_passing boolean
)
