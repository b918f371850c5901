-- The pages whose clicks and so on in the last 28 days with figures are not those that were known. A page without any is
-- like one without impressions.
select url, clicks, impressions, "position"
from (
  select
    entry.url,
    (extra ->> 'clicks')::bigint as clicks,
    (extra ->> 'impressions')::bigint as impressions,
    (extra ->> 'position')::double as "position",
    coalesce(was.clicks, 0) as was_clicks,
    coalesce(was.impressions, 0) as was_impressions,
    was."position" as was_position
  from (from listed_entries where kind = 'entry') as entry
  left join previous_state as was using (url)
)
where
  clicks is not null
  and (
    clicks <> was_clicks
    or impressions <> was_impressions
    or "position" is distinct from was_position
  )
