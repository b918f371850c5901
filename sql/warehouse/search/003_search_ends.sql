-- The days of search analytics that are known of each property: the first, the last that no longer changes, and the last.
create or replace view search_ends as
select
  website_id,
  min("date") as first_date,
  max("date") filter (is_final) as last_final_date,
  max("date") as last_date
from (
  select website_id, "date", bool_and(is_final) as is_final
  from search_dates
  group by website_id, "date"
  having bool_and(unknown is null)
)
group by website_id
