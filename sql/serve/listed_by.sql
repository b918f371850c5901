-- Whether all entries of a snapshot had been listed by a time; true of one that lists no page.
select coalesce(max(listed_at) <= $time::timestamptz, true) as was_listed
from asked_coverage
