-- title: Canonical mismatches
-- description: Monitored pages for which the search engine has chosen another canonical URL than their owner declares, longest first, and since which listing it has been so without a break.
-- param website (text, default all): id or name of one website
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
with mismatched as (
  select *
  from pages
  where
    is_monitored
    and searchengine_selected_canonical <> user_selected_canonical
    and (
      $website::varchar is null
      or website_id in (select website_id from snapshots where $website::varchar in (website_id, website_name))
    )
),
listings as (
  select
    website_id,
    url,
    coverage.listed_at,
    coalesce(coverage.searchengine_selected_canonical <> coverage.user_selected_canonical, false) as differed
  from coverage
  semi join mismatched using (website_id, url)
),
last_without as (
  select website_id, url, max(listed_at) as listed_at
  from listings
  where not differed
  group by website_id, url
),
spans as (
  select listings.website_id, listings.url, min(listings.listed_at) as differs_since
  from listings
  left join last_without using (website_id, url)
  where listings.differed and (last_without.listed_at is null or listings.listed_at > last_without.listed_at)
  group by listings.website_id, listings.url
)
select
  mismatched.website_id,
  mismatched.url,
  mismatched.searchengine_selected_canonical,
  mismatched.user_selected_canonical,
  coalesce(spans.differs_since, mismatched.listed_at) as differs_since,
  mismatched.listed_at as last_listed_at,
  mismatched.index_summary,
  mismatched.index_coverage_state
from mismatched
left join spans using (website_id, url)
order by differs_since, mismatched.website_id, mismatched.url
limit $limit::bigint
