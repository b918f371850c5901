-- The clicks that a page had in 28 days when it was last seen indexed before it fell out of the index; null where none
-- are known.
create or replace macro clicks_before(website, page, fell_at) as (
  select arg_max(clicks, snapshot_id)
  from page_traffic
  where
    website_id = website
    and url = page
    and snapshot_at <= coalesce(last_seen_indexed(website, page, fell_at), fell_at)
)
