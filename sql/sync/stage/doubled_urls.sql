-- URLs that the kept walk lists more than once: the last entry wins.
create or replace temp table doubled_urls as
select url, max(position) as last_position, count(*)::integer as occurrences
from kept_entries
where getvariable('has_doubled_urls')::boolean and url is not null
group by url
having count(*) > 1
