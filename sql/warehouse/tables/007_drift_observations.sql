-- What the contract accepts but does not define, counted once per snapshot.
create table drift_observations (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  source varchar not null,
  field varchar not null,
  value varchar,
  occurrences integer not null,
  sample varchar,
  kind varchar not null
)
