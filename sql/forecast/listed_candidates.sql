-- The pages of a website's first listing, each once: nothing is known about them, so every report is wanted.
create or replace temp view candidates as
select distinct url, 'new' as reason, null::timestamptz as report_fetched_at, false as keeps_failing
from listed
where walk = getvariable('walk')::integer and url is not null
