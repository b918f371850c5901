-- The clicks that a page had in web search in the 28 days before it fell out of the index, up to the day when it was last
-- seen indexed; null if none of these days is known. The days are joined one by one, because DuckDB skips files by the
-- bounds of a join of equal dates.
create or replace macro clicks_before(website, page, fell_at) as if(
  (
    select count(*)
    from (select day_before(website, page, fell_at) as last_day)
    join search_dates on "date" between last_day - 27 and last_day
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
