-- The entries of `listed` for the given pages.
select *
from listed
where url in (select unnest($urls))
