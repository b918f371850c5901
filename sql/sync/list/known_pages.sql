-- The listed pages of the night before, with when and by what each was last named. Earlier versions recorded pages under
-- other spellings.
create or replace temp view known_pages as
select url_key(url) as url, spelling, named_by, last_named_at, unnamed_since
from previous_state
where listed_snapshot_id is not null and unlisted_since is null
