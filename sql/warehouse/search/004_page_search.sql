-- What search showed of each page of a property in the last 90 days that are final: its clicks, impressions and average
-- position in web search in the last 28 of them, the days on which it was shown in any type of search, and the last one.
-- A page without a row was not shown.
create or replace view page_search as
select
  website_id,
  url,
  coalesce(sum(clicks) filter (is_recent), 0)::bigint as clicks,
  coalesce(sum(impressions) filter (is_recent), 0)::bigint as impressions,
  round(sum("position" * impressions) filter (is_recent) / nullif(sum(impressions) filter (is_recent), 0), 1) as "position",
  count(distinct "date")::integer as days_shown,
  min("date") as first_impression_date,
  max("date") as last_impression_date
from (
  select search_final.*, "type" = 'web' and "date" > last_final_date - 28 as is_recent
  from search_final
  join search_ends using (website_id)
  where "date" > last_final_date - 90
)
group by website_id, url
