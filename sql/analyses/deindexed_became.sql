-- title: What de-indexed pages became
-- description: What pages that fell out of the index are since: the coverage state that they went to and the one now, and by the last report if it is newer than the fall page fetch, robots.txt and whether indexing is allowed; the canonical that the search engine chose for them. What they had in common before: deindexed_in_common.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): fell on or after this date; by default on one of the last seven dates
-- param until (date, default today): fell on or before this date
-- param reindexed (boolean, default false): also pages that are indexed again now
-- param limit (integer, default 40): at most this many rows, or none for all
-- grain: one row per website, dimension and value
-- show website_id (website): website
-- show dimension (text): since the fall
-- show value (text): value
-- show pages (count): pages
-- show share (share): of the fallen
with fell as (
  select website_id, url, max(observed_at) as fell_at
  from page_changes
  where
    change = 'deindexed'
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
  group by website_id, url
),
went_to as (
  select website_id, url, coalesce(any_value(to_value), '(none)') as coverage_state
  from page_changes
  join fell using (website_id, url)
  where change = 'coverage_state' and observed_at = fell_at
  group by website_id, url
),
fallen as (
  select
    pages.*,
    coalesce(went_to.coverage_state, '(unchanged)') as went_to,
    report_fetched_at >= fell_at as has_report
  from pages
  join fell using (website_id, url)
  left join went_to using (website_id, url)
  where $reindexed::boolean or is_indexed is not true
),
traits as (
  select website_id, unnest([
    {place: 1, dimension: 'went_to', "value": went_to},
    {
      place: 2,
      dimension: 'state_now',
      "value": if(is_monitored, coalesce(index_coverage_state, '(none)'), '(no longer listed)')
    },
    {
      place: 3,
      dimension: 'fetch_status',
      "value": if(has_report, coalesce(report_page_fetch_status, '(none)'), '(no report since)')
    },
    {
      place: 4,
      dimension: 'blocked_by_robots',
      "value": if(has_report, coalesce(report_blocked_by_robots_txt, '(none)'), '(no report since)')
    },
    {
      place: 5,
      dimension: 'indexing_allowed',
      "value": if(has_report, coalesce(report_indexing_allowed, '(none)'), '(no report since)')
    },
    {place: 6, dimension: 'canonical', "value": canonical_kind(url, searchengine_selected_canonical)}
  ], recursive := true)
  from fallen
)
select
  website_id,
  dimension,
  "value",
  count(*) as pages,
  round(count(*) / any_value(fallen_pages), 4) as share
from traits
join (select website_id, count(*) as fallen_pages from fallen group by website_id) using (website_id)
group by website_id, place, dimension, "value"
order by website_id, place, pages desc, "value"
limit $limit::bigint
