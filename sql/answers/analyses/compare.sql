-- title: Two dates or two directories side by side
-- description: Every figure of two dates, or with `other` of two directories on one date; with `pages`, each page that differs between two dates. Figures are pages, indexed, coverage states, crawls, canonicals and what reports say. Each counts pages: `left_pages` those of `left_side`, `right_pages` those of `right_side`, `difference` right minus left; shares are among all pages of the side. Listings are the last complete ones up to a date, reports each page's last one up to that listing: it may be older, and pages without one are in `With a report` on neither side. If retention removed the rows of a listing, the one before it is used; older reports that it removed are missing. A page that is quarantined on one of the two dates is neither new nor gone.
-- question: What changed?
-- param website (text, default all): id or name of one website
-- param since (date, default 7 days ago): the left side: the last complete listing up to this date; by default the one before the last seven dates
-- param until (date, default today): the right side, and both sides with `other`: the last complete listing up to this date
-- param directory (text, default all): only pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param other (text, default none): compares `directory` with this one, on the date `until`
-- param pages (boolean, default false): one row per page that is new, gone or changed, instead of the figures
-- param limit (integer, default none): at most this many rows
-- grain: one row per website and figure; with `pages` one row per page that differs
-- show website_id (website): website
-- show figure (text): figure
-- show url (url): page
-- show left_side (text): left
-- show right_side (text): right
-- show left_state (text): left state
-- show right_state (text): right state
-- show left_canonical (url): left canonical
-- show right_canonical (url): right canonical
-- show left_pages (count): left
-- show right_pages (count): right
-- show difference (change): difference
-- show left_share (share): of left pages
-- show right_share (share): of right pages
with asked as (
  select 'left' as side, if($other::varchar is null, $since::date, $until::date) as day, $directory::varchar as directory
  union all
  select 'right', $until::date, coalesce($other::varchar, $directory::varchar)
),
chosen as (
  select
    website_id,
    side,
    directory,
    unnest(arg_max({snapshot_id: snapshot_id, snapshot_at: snapshot_at, snapshot_date: snapshot_date}, snapshot_at)),
    arg_max(json_exists(files, '$.coverage'), snapshot_at) as has_rows,
    arg_max(source, snapshot_at) = 'google' as by_inspection
  from snapshots
  join asked on snapshots.snapshot_date <= asked.day
  where
    listing_status = 'complete'
    -- Retention has removed the rows of these listings.
    and snapshot_id not in (select snapshot_id from tombstones where table_name = 'coverage')
    and is_website(website_id, $website::varchar)
  group by website_id, side, directory
),
sides as (
  select *, if($other::varchar is null, snapshot_date::varchar, coalesce(directory, '(all)')) as label
  from chosen
  -- indexhouse.duckdb drops rows by date.
  where not has_rows or snapshot_id in (select snapshot_id from coverage where snapshot_id in (select snapshot_id from chosen))
),
listed as (
  select
    sides.website_id,
    sides.side,
    coverage.url,
    index_summary,
    index_coverage_state,
    searchengine_selected_canonical,
    user_selected_canonical,
    canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals,
    days_between(last_crawl_time, sides.snapshot_at) as days_since_crawl
  from coverage
  join sides using (snapshot_id)
  where is_selected(coverage.url, null, sides.directory, null, null)
),
reported as (
  select
    sides.website_id,
    sides.side,
    url,
    arg_max(coalesce(len(sitemaps), 0), fetched_at) > 0 as is_in_sitemap,
    arg_max(coalesce(blocked_by_robots_txt, ''), fetched_at) = 'Yes' as is_blocked,
    arg_max(coalesce(indexing_allowed, ''), fetched_at) = 'No' as is_refused,
    arg_max(coalesce(page_fetch_status, 'Successful'), fetched_at) <> 'Successful' as has_failed
  from url_reports
  join sides on sides.website_id = url_reports.website_id and url_reports.snapshot_at <= sides.snapshot_at
  group by sides.website_id, sides.side, url
),
counted as (
  select
    listed.website_id,
    listed.side,
    count(*) as pages,
    count_if(index_summary = 'Indexed') as indexed,
    count_if(index_summary <> 'Indexed') as not_indexed,
    count_if(index_summary is null) as without_data,
    count_if(days_since_crawl <= 7) as crawled_lately,
    count_if(days_since_crawl is null) as never_crawled,
    count_if(canonicals = 'match') as same_canonical,
    count_if(canonicals = 'differ') as other_canonical,
    count(reported.url) as reported,
    count_if(is_in_sitemap) as in_sitemap,
    count_if(is_blocked) as blocked,
    count_if(is_refused) as refused,
    count_if(has_failed) as failed
  from listed
  left join reported using (website_id, side, url)
  group by listed.website_id, listed.side
),
totals as (
  select website_id, side, label, coalesce(pages, 0) as pages
  from sides
  left join counted using (website_id, side)
),
-- Starts from the sides, because one without pages has no counts.
figures as (
  select website_id, side, unnest([
    {place: 1, figure: 'Pages', pages: counted.pages},
    {place: 2, figure: 'Indexed', pages: indexed},
    {place: 3, figure: 'Not indexed', pages: not_indexed},
    {place: 4, figure: if(by_inspection, 'Not inspected yet', 'Without inspection data'), pages: without_data},
    {place: 6, figure: 'Crawled within 7 days', pages: crawled_lately},
    {place: 7, figure: 'Never crawled', pages: never_crawled},
    {place: 8, figure: 'Canonical as declared', pages: same_canonical},
    {place: 9, figure: 'Canonical differs', pages: other_canonical},
    {place: 10, figure: 'With a report', pages: reported},
    {place: 11, figure: 'In a sitemap', pages: in_sitemap},
    {place: 12, figure: 'Blocked by robots.txt', pages: blocked},
    {place: 13, figure: 'Indexing not allowed', pages: refused},
    {place: 14, figure: 'Fetch failed', pages: failed}
  ], recursive := true)
  from sides
  left join counted using (website_id, side)
  union all
  select website_id, side, 5, 'State: ' || index_coverage_state, count(*)
  from listed
  where index_coverage_state is not null
  group by website_id, side, index_coverage_state
),
compared as (
  select
    website_id,
    place,
    figure,
    any_value(pages) filter (side = 'left') as left_count,
    any_value(pages) filter (side = 'right') as right_count
  from figures
  group by website_id, place, figure
),
quarantined as (
  select distinct website_id, url
  from rejected_records
  join sides using (website_id, snapshot_id)
  where source = 'coverage' and $pages::boolean
),
differing as (
  select
    website_id,
    url,
    case when left_page.url is null then 'new' when right_page.url is null then 'gone' else 'changed' end as figure,
    left_page.index_coverage_state as left_state,
    right_page.index_coverage_state as right_state,
    left_page.searchengine_selected_canonical as left_canonical,
    right_page.searchengine_selected_canonical as right_canonical,
    left_page.user_selected_canonical as left_declared,
    right_page.user_selected_canonical as right_declared
  from (select * from listed where $pages::boolean and side = 'left') as left_page
  full join (select * from listed where $pages::boolean and side = 'right') as right_page using (website_id, url)
  where
    -- A website without both sides has nothing to compare page by page.
    website_id in (select website_id from sides group by website_id having count(distinct snapshot_id) = 2)
    and if(figure = 'changed', (
      left_page.index_summary is distinct from right_page.index_summary
      or left_state is distinct from right_state
      or left_canonical is distinct from right_canonical
      or left_declared is distinct from right_declared
    ), (website_id, url) not in (from quarantined))
)
select * exclude (place, most)
from (
  select
    compared.website_id,
    figure,
    left_side.label as left_side,
    right_side.label as right_side,
    if(left_side.label is null, null, coalesce(left_count, 0)) as left_pages,
    coalesce(right_count, 0) as right_pages,
    right_pages - left_pages as difference,
    round(left_pages / nullif(left_side.pages, 0), 4) as left_share,
    round(right_pages / nullif(right_side.pages, 0), 4) as right_share,
    round(right_pages / nullif(right_side.pages, 0) - left_pages / nullif(left_side.pages, 0), 4) as share_difference,
    place,
    greatest(right_count, left_count) as most
  from compared
  join totals as right_side on right_side.website_id = compared.website_id and right_side.side = 'right'
  left join totals as left_side on left_side.website_id = compared.website_id and left_side.side = 'left'
  where not $pages::boolean
  union all by name
  select * from differing
)
order by website_id, place, most desc, figure, url
limit $limit::bigint
