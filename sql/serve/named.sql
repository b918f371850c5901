-- Entries of `listed` by their pages.
select *
from listed
where url in (select unnest($urls))
