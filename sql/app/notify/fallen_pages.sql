-- The pages that fell out of the index between two complete listings of a website: how many, their most frequent directory
-- and state, five of them, and the clicks that they had in 28 days. The directory is that of `fallen_places`, if most are
-- in one, and else a first directory.
with place as (
  select directory as place
  from fallen_places([{website_id: $website::varchar, before_id: $before::varchar, listing_id: $now::varchar}])
),
found as (
  select
    moved.url,
    clicks_before(moved.website_id, moved.url, made.observed_at) as clicks,
    if(starts_with(path_of(moved.url), place), place, directory_of(moved.url)) as directory,
    made.state as state,
    made.is_uncrawled as is_uncrawled
  from net_moves([{website_id: $website::varchar, before_id: $before::varchar, listing_id: $now::varchar}]) as moved
  left join place on true
  where
    move = 'fell_out'
    and ($directory::varchar is null or directory_of(moved.url) = $directory::varchar)
)
select *, (select coalesce(sum(clicks), 0)::integer from found) as clicks from places_of('found')
