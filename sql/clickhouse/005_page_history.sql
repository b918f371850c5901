-- Each page's listing over time: one row per website, page and period without a change.
create or replace view page_history as
with listed as (
  select
    *,
    toJSONString((
      index_summary, index_coverage_state, canonicals_match, searchengine_selected_canonical, user_selected_canonical
    )) as listing
  from coverage
),
compared as (
  select
    *,
    listing is distinct from lag(toNullable(listing)) over (partition by website_id, url order by snapshot_at) as is_new
  from listed
),
numbered as (
  select *, sum(is_new) over (partition by website_id, url order by snapshot_at) as span
  from compared
)
select
  website_id,
  url,
  any(numbered.index_summary) as index_summary,
  any(numbered.index_coverage_state) as index_coverage_state,
  any(numbered.canonicals_match) as canonicals_match,
  any(numbered.searchengine_selected_canonical) as searchengine_selected_canonical,
  any(numbered.user_selected_canonical) as user_selected_canonical,
  min(snapshot_at) as valid_from,
  lead(toNullable(min(snapshot_at))) over (partition by website_id, url order by min(snapshot_at)) as valid_to
from numbered
group by website_id, url, listing, span
