-- The clicks that a page had in web search in the 28 days before it fell out of the index, up to the day when it was last
-- seen indexed; null if none of these days is known.
create or replace macro clicks_before(website, page, fell_at) as if(
  (
    select count(*)
    from search_dates
    where website_id = website and is_final and unknown is null and "date" between day_before(website, page, fell_at) - 27
      and day_before(website, page, fell_at)
  ) = 0,
  null,
  (
    select coalesce(sum(clicks), 0)::bigint
    from search_days
    where website_id = website and url = page and "type" = 'web' and is_final
      and "date" between day_before(website, page, fell_at) - 27 and day_before(website, page, fell_at)
  )
)
