-- What changed on the nights and pages in `selected`, which a preceding statement chooses, in words and in the same
-- order.
select
  snapshot_date::varchar as snapshot_date,
  left(url, 17000) as url,
  min(rank) < 2 as is_loss,
  string_agg(described, '; ' order by rank, change) filter (is_of_index) as index_change,
  string_agg(described, '; ' order by rank, change) filter (not is_of_index) as other_changes
from (
  select
    snapshot_date,
    url,
    change,
    descending,
    change_rank(change) as rank,
    rank < 4 as is_of_index,
    -- Texts may be megabytes long.
    change_text(
      change,
      if(from_value = url, 'itself', left(from_value, 2000)),
      if(to_value = url, 'itself', left(to_value, 2000))
    ) as described
  from page_changes
  join selected using (snapshot_date, url)
  where
    website_id = $website::varchar
    and (not is_noise(change, from_value) or $kind::varchar in (change, 'all'))
) as described
group by described.snapshot_date, described.url
order by any_value(descending) desc, described.url
