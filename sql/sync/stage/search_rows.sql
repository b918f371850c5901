-- What search showed of each page on each day that was read tonight, as one of its spellings. The end of an answer and the
-- start of the next one may have the same row.
create or replace temp view search_rows as
select
  is_final,
  "date",
  "type",
  shown.url,
  coalesce(shown.page, shown.url) as page,
  any_value(shown.spelling) as spelling,
  max(shown.clicks) as clicks,
  max(shown.impressions) as impressions,
  arg_max(shown."position", shown.impressions) as "position"
from (select is_final, "date", "type", unnest("rows") as shown from journal_search where kind = 'rows')
group by all
