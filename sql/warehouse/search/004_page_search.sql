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
  -- A bit for each day: a set of dates for each page would not fit into the memory of a sync.
  bit_count(bit_or(1::hugeint << (last_final_date - "date")))::integer as days_shown,
  min("date") as first_impression_date,
  max("date") as last_impression_date
from (
  select search_days.*, last_final_date, "type" = 'web' and "date" > last_final_date - 28 as is_recent
  from search_days
  join (select website_id, last_final_date, last_final_date - unnest(range(90))::integer as "date" from search_ends)
    using (website_id, "date")
  where is_final
)
group by website_id, url
