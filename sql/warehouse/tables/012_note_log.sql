-- What people noted with `indexhouse note`: one row per note and website. `removes` names the note that a row withdraws;
-- the view `notes` has the remaining ones.
create table note_log (
  note_id varchar not null,
  website_id varchar not null,
  noted_at timestamptz not null,
  note_date date not null,
  directory varchar,
  note varchar,
  removes varchar
)
