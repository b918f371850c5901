-- The pages whose clicks and so on in the last 28 days with figures are not those that were known. A page without any is
-- like one without impressions.
select url, entry.clicks, entry.impressions, entry."position"
from (
  select
    url,
    (extra ->> 'clicks')::bigint as clicks,
    (extra ->> 'impressions')::bigint as impressions,
    (extra ->> 'position')::double as "position"
  from listed_entries
  where kind = 'entry'
) as entry
left join previous_state as was using (url)
where
  entry.clicks is not null
  and (
    entry.clicks <> coalesce(was.clicks, 0)
    or entry.impressions <> coalesce(was.impressions, 0)
    or entry."position" is distinct from was."position"
  )
