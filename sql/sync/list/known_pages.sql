-- The listed pages of the night before, with when and by what each was last named. `is_named`: by the last complete
-- listing or one since.
create or replace temp view known_pages as
select url, named_by, last_named_at, unnamed_since is null as is_named
from previous_state
where listed_snapshot_id is not null and unlisted_since is null
