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
  from page_state as pages
  left join flipped using (website_id, url)
  where
    ($website::varchar is null or pages.website_id = $website::varchar)
    and (is_listed(pages.status) or flipped.url is not null)
    and target is not null
),
-- Pages with the same values are counted once, before they are unpivoted.
alike as (
  select
    website_id,
    is_flipped,
    directory_of(url) as directory,
    coalesce(nullif(host_of(target), ''), '(none)') as target_host,
    directory_of(target) as target_directory,
    canonical_kind(url, target) as target,
    count(*) as together
  from population
  group by all
),
traits as (
  unpivot alike on directory, target_host, target_directory, target into name dimension value "value"
)
select
  website_id,
  dimension,
  "value",
  sum(together)::integer as pages,
  coalesce(sum(together) filter (is_flipped), 0)::integer as changed,
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
