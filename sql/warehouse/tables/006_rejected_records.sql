-- Quarantine: records that break the contract, with their original text and what is wrong with them.
create table rejected_records (
  snapshot_id varchar not null,
  website_id varchar not null,
  snapshot_at timestamptz not null,
  snapshot_date date not null,
  source varchar not null,
  url varchar,
  position integer,
  received_at timestamptz not null,
  issues json not null,
  payload varchar not null,
  reason varchar
)
