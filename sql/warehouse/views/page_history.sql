-- Each page's listing over time: one row per website, page and period without a change.
create or replace view page_history as
select
  website_id,
  url,
  index_summary,
  index_coverage_state,
  canonicals_match,
  searchengine_selected_canonical,
  user_selected_canonical,
  min(snapshot_at) as valid_from,
  lead(min(snapshot_at)) over (partition by website_id, url order by min(snapshot_at)) as valid_to
from (
  select
    *,
    count(*) filter (is_new) over (partition by website_id, url order by snapshot_at) as span
  from (
    select
      *,
      hash(index_summary, index_coverage_state, canonicals_match, searchengine_selected_canonical,
        user_selected_canonical)
        is distinct from lag(hash(index_summary, index_coverage_state, canonicals_match,
        searchengine_selected_canonical, user_selected_canonical))
        over (partition by website_id, url order by snapshot_at) as is_new
    from coverage
  )
)
group by website_id, url, index_summary, index_coverage_state, canonicals_match,
  searchengine_selected_canonical, user_selected_canonical, span
