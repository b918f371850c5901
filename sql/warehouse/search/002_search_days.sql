-- What search showed of each page of a property, day by day (California's) and type of search. `is_final`: the day no
-- longer changes. Which days are known, also those without any page, and which are cut: `search_dates`.
create or replace view search_days as
select website_id, "date", "type", url, clicks, impressions, "position", true as is_final
from search_final
anti join (
  from search_fetches
  anti join (from search_dates where is_final and unknown is null) as newest using (website_id, "date", "type", snapshot_id)
  where is_final and unknown is null
) as replaced using (website_id, "date", "type", snapshot_id)
union all
select website_id, "date", "type", url, clicks, impressions, "position", false
from search_fresh
semi join (from search_dates where not is_final) as newest using (website_id, "date", "type", snapshot_id)
