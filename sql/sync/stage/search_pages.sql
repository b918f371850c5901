-- What search showed of each page on each day that was read tonight.
create or replace temp view search_pages as
select is_final, "date", "type", unnest("rows", recursive := true)
from journal_search
where kind = 'rows'
