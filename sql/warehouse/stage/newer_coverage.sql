-- For a replay: the entries that are newer than the page's last known listing. The others are kept, but not compared
-- with anything.
select now.*
from previous_state as was
right join now_coverage as now on now.url = was.url
where was.listed_at is null or now.listed_at > was.listed_at
