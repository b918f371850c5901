-- The clicks that a page had in web search in the 28 days before it fell out of the index, up to the day when it was last
-- seen indexed; null if none of these days is known. Like `page_search`, it joins single days, because DuckDB skips parts of
-- files by the bounds of an equality join only.
create or replace macro clicks_before(website, page, fell_at) as if(
  (
    select count(*)
    from (select day_before(website, page, fell_at) - unnest(range(28))::integer as "date")
    join search_dates using ("date")
    where website_id = website and is_final and unknown is null
  ) = 0,
  null,
  (
    select coalesce(sum(clicks), 0)::bigint
    from (select day_before(website, page, fell_at) - unnest(range(28))::integer as "date")
    join search_days using ("date")
    where website_id = website and url = page and "type" = 'web' and is_final
  )
)
