-- The days of search analytics of each property: one row per day and type, as fetched last. `unknown`: why a day that was to
-- be fetched has no figures; `sync` fetches it again.
create or replace view search_dates as
select website_id, "date", "type", is_final, is_cut, pages, clicks, impressions, fetched_at, snapshot_id, unknown
from search_fetches
qualify row_number() over (partition by website_id, "date", "type" order by snapshot_id desc) = 1
