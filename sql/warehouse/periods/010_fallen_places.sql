-- Where pages fell out of the index between two complete listings, one row per website of which at least five fell: the
-- deepest directory that holds four fifths of them and falls at least twice as often as the directory around it, and the
-- largest directory `beside` it. A website without such a directory has no row. `pairs` as for `net_moves`.
create or replace macro fallen_places(pairs) as table
with indexed as materialized (
  select website_id, url, path_of(url) as path, move is not distinct from 'fell_out' as is_fallen
  from moves_between(pairs)
  where was_indexed
),
fell as (
  select website_id, url, count(*) over (partition by website_id) as fallen from indexed where is_fallen
),
-- Each holds the next one, because two directories side by side cannot both hold four fifths.
holding as (
  select website_id, directory, count(*) as fell_out, any_value(fallen) as fallen
  from (select website_id, fallen, unnest(directories_of(url)) as directory from fell)
  group by website_id, directory
  having count(*) >= 0.8 * any_value(fallen) and any_value(fallen) >= 5
),
places as (
  select *, lag(directory) over depths as parent
  from (
    select website_id, directory, fell_out, fallen, count(*) as indexed_before
    from holding
    join indexed using (website_id)
    where starts_with(path, directory)
    group by website_id, directory, fell_out, fallen
  )
  window depths as (partition by website_id order by length(directory))
  qualify fell_out / indexed_before >= 2 * lag(fell_out / indexed_before) over depths
),
place as (
  from places qualify row_number() over (partition by website_id order by length(directory) desc) = 1
),
neighbours as (
  select
    website_id,
    parent || regexp_extract(substr(path, length(parent) + 1), '^[^/]+/') as beside,
    count(*) as beside_indexed,
    count_if(is_fallen) as beside_fell_out
  from place
  join indexed using (website_id)
  where starts_with(path, parent) and not starts_with(path, directory)
  group by website_id, parent, beside
  having beside <> parent
  qualify row_number() over (partition by website_id order by beside_indexed desc, beside) = 1
)
select
  website_id,
  directory,
  fell_out::integer as fell_out,
  fallen::integer as fallen,
  indexed_before::integer as indexed_before,
  beside,
  beside_fell_out::integer as beside_fell_out,
  beside_indexed::integer as beside_indexed
from place
left join neighbours using (website_id)
