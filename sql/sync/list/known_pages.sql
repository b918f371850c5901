-- The listed pages of the night before, with when and by what each was last named.
create or replace temp view known_pages as
select url, spelling, named_by, last_named_at, unnamed_since
from previous_state
where listed_snapshot_id is not null and unlisted_since is null
