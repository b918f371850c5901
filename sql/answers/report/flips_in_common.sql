-- What pages whose canonical flipped have in common, compared with all pages that have a canonical: the share of both
-- for each dimension and value, the most significant first. A flipped page counts with its new canonical.
with flipped as (
  select website_id, url, first(to_value order by observed_at desc, change, to_value) as canonical
  from page_changes
  where
    is_flip(change, from_value, to_value)
    and ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
  group by website_id, url
),
population as (
  select
    pages.website_id,
    pages.url,
    flipped.url is not null as is_flipped,
    coalesce(flipped.canonical, pages.searchengine_selected_canonical, pages.user_selected_canonical) as target
  from pages
  left join flipped using (website_id, url)
  where
    ($website::varchar is null or pages.website_id = $website::varchar)
    and (pages.is_listed or flipped.url is not null)
    and target is not null
),
traits as (
  select website_id, is_flipped, unnest([
    {dimension: 'directory', "value": directory_of(url)},
    {dimension: 'target_host', "value": coalesce(nullif(host_of(target), ''), '(none)')},
    {dimension: 'target_directory', "value": directory_of(target)},
    {dimension: 'target', "value": canonical_kind(url, target)}
  ], recursive := true)
  from population
)
select
  website_id,
  dimension,
  "value",
  count(*)::integer as pages,
  count_if(is_flipped)::integer as changed,
  -- Each page has one value of each dimension.
  changed / sum(changed) over same_dimension as share,
  pages / sum(pages) over same_dimension as overall_share,
  share / overall_share as lift
from traits
group by website_id, dimension, "value"
window same_dimension as (partition by website_id, dimension)
qualify changed >= 2
order by changed - sum(changed) over same_dimension * overall_share desc, website_id, dimension, "value"
limit $limit
