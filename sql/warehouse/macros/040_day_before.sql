-- The day in California when a page was last seen indexed before it fell out of the index.
create or replace macro day_before(website, page, fell_at) as
  california_date(coalesce(last_seen_indexed(website, page, fell_at), fell_at))
