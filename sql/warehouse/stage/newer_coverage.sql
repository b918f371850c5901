-- For a replay: the entries that are newer than what is known of their page: its last listing, and the last one that
-- lacked it. The others are kept, but not compared with anything.
select now.*
from previous_state as was
right join now_coverage as now on now.url = was.url
where
  (was.listed_at is null or now.listed_at > was.listed_at)
  and (was.unlisted_since is null or now.listed_at >= was.unlisted_since)
