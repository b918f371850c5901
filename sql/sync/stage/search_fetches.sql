select
  "date",
  "type",
  is_final,
  is_cut,
  coalesce(pages, 0)::integer as pages,
  clicks,
  impressions,
  "at" as fetched_at
from (from journal_search where kind = 'day') as fetched
left join (select "date", "type", count(*) as pages from search_pages group by all) using ("date", "type")
