-- URLs that the kept walk lists more than once: the later entry wins.
create or replace temp table doubled_urls as
select url, max(position) as last_position, count(*)::integer as occurrences
from kept_entries
where url is not null
group by url
having count(*) > 1
