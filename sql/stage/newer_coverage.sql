-- Of a replay: the entries that are newer than the page's last known listing. The others are kept, and compared with
-- nothing.
select now.*
from now_coverage as now
left join previous_state as was on was.url = now.url
where was.listed_at is null or now.listed_at > was.listed_at
