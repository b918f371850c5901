-- title: What de-indexed pages have in common
-- description: Which directory, sitemap, coverage state, canonical and fetch status stand out among the pages that fell out of the index, compared with all pages. `share` is the share among the fallen pages, `overall_share` among all pages, `lift` their quotient: 1 means nothing, 5 means that such a page fell out five times as often as the average page. Sorted by the number of pages beyond an even spread. Coverage state: the new one. Canonical: the one that the search engine chose. Sitemap and fetch status: from the last report; a page counts in each of its sitemaps.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): fell on or after this date; by default on one of the last seven dates
-- param until (date, default today): fell on or before this date
-- param reindexed (boolean, default false): also pages that are indexed again now
-- param min_pages (integer, default 3): leaves out what fewer fallen pages share
-- param limit (integer, default 30): at most this many rows, or none for all
-- grain: one row per website, dimension and value
-- show website_id (website): website
-- show dimension (text): dimension
-- show value (text): value
-- show deindexed (count): de-indexed
-- show pages (count): pages
-- show share (share): of the fallen
-- show overall_share (share): of all
-- show lift (number): lift
with fell as (
  select website_id, url, first(commit_id order by observed_at desc, commit_id desc) as commit_id
  from page_changes
  where
    change = 'deindexed'
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
  group by website_id, url
),
went_to as (
  select website_id, url, to_value as coverage_state
  from page_changes
  semi join fell using (website_id, url, commit_id)
  where change = 'coverage_state'
),
-- All pages that are monitored, and those that fell and are gone since.
population as (
  select
    pages.website_id,
    pages.url,
    fell.url is not null and ($reindexed::boolean or pages.is_indexed is not true) as is_fallen,
    if(is_fallen and went_to.url is not null, went_to.coverage_state, pages.index_coverage_state) as coverage_state,
    pages.searchengine_selected_canonical as canonical,
    if(pages.report_fetched_at is null, '(no report)', coalesce(pages.report_page_fetch_status, '(none)'))
      as fetch_status,
    case
      when pages.report_fetched_at is null then ['(no report)']
      when len(pages.report_sitemaps) > 0 then list_distinct(pages.report_sitemaps)
      else ['(none)']
    end as sitemaps
  from pages
  left join fell using (website_id, url)
  left join went_to using (website_id, url)
  where
    (pages.is_monitored or fell.url is not null)
    and pages.website_id in (select website_id from fell)
),
totals as (
  select website_id, count(*) as pages, count(*) filter (is_fallen) as fallen
  from population
  group by website_id
),
traits as (
  select website_id, is_fallen, unnest([
    {dimension: 'directory', "value": directory_of(url)},
    {dimension: 'coverage_state', "value": coalesce(coverage_state, '(none)')},
    {
      dimension: 'canonical',
      "value": case
        when canonical is null then 'none'
        when canonical = url then 'self'
        when host_of(canonical) = host_of(url) then 'other page, same host'
        else 'other host'
      end
    },
    {dimension: 'fetch_status', "value": fetch_status}
  ], recursive := true)
  from population
  union all
  select website_id, is_fallen, 'sitemap', unnest(sitemaps)
  from population
),
counted as (
  select website_id, dimension, "value", count(*) as pages, count(*) filter (is_fallen) as deindexed
  from traits
  group by website_id, dimension, "value"
)
select
  counted.website_id,
  counted.dimension,
  counted."value",
  counted.pages,
  counted.deindexed,
  round(counted.deindexed / totals.fallen, 4) as share,
  round(counted.pages / totals.pages, 4) as overall_share,
  round((counted.deindexed / totals.fallen) / (counted.pages / totals.pages), 2) as lift
from counted
join totals using (website_id)
where counted.deindexed >= greatest($min_pages::bigint, 1)
order by
  counted.deindexed - totals.fallen * (counted.pages / totals.pages) desc,
  counted.website_id,
  counted.dimension,
  counted."value"
limit $limit::bigint
