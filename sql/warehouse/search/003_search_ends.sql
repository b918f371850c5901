-- The days of search analytics that are known of each property: the first, the last that no longer changes, and the last.
create or replace view search_ends as
select
  website_id,
  min("date") as first_date,
  max("date") filter (is_final) as last_final_date,
  max("date") as last_date
from search_dates
group by website_id
