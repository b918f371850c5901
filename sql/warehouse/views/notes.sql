-- The notes that were not removed: what somebody did, or knows of, on a date. One row per note and website.
create or replace view notes as
select note_id, website_id, noted_at, note_date, directory, note
from note_log
anti join (select website_id, removes as note_id from note_log where removes is not null) as removed
  using (website_id, note_id)
where removes is null
