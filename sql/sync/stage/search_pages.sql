-- What search showed of each page on each day that was read tonight, in all its spellings.
create or replace temp view search_pages as
select
  is_final,
  "date",
  "type",
  url,
  sum(clicks)::bigint as clicks,
  sum(impressions)::bigint as impressions,
  -- Of one row, the position is as Google has it.
  if(count(*) = 1, any_value("position"), sum("position" * impressions) / nullif(sum(impressions), 0)) as "position"
from search_rows
group by is_final, "date", "type", url
