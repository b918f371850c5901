-- title: Two dates or two directories side by side
-- description: Every figure of two dates, or with `other` of two directories on one date; with `pages`, each page that differs between two dates. Figures are pages, indexed, coverage states, crawls, canonicals and what reports say. Each counts pages: `left_pages` those of `left_side`, `right_pages` those of `right_side`, `difference` right minus left, null if both dates have the same listing; shares are among all pages of the side. Listings are the last complete ones up to a date, reports each page's last one up to that listing: it may be older, and pages without one are in `With a report` on neither side. A page that is quarantined on one of the two dates counts with its last known state.
-- question: What changed?
-- param since (date, default 7 days ago): the left side: the last complete listing up to this date; by default the one before the last seven dates
-- param until (date, default today): the right side, and both sides with `other`: the last complete listing up to this date
-- param directory (text, default all): only pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param other (text, default none): compares `directory` with this one, on the date `until`
-- param pages (boolean, default false): one row per page that is new, gone or changed, instead of the figures
-- param limit (integer, default none): at most this many rows
-- grain: one row per website and figure; with `pages` one row per page that differs
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
sides as (
  select
    website_id,
    side,
    directory,
    max(snapshots.snapshot_id) as snapshot_id,
    arg_max(snapshot_at, snapshots.snapshot_id) as snapshot_at,
    arg_max(source, snapshots.snapshot_id) = 'google' as by_inspection,
    if($other::varchar is null, arg_max(snapshot_date, snapshots.snapshot_id)::varchar, coalesce(directory, '(all)')) as label
  from snapshots
  join asked on snapshots.snapshot_date <= asked.day
  where listing_status = 'complete' and is_website(website_id, $website::varchar)
  group by website_id, side, directory
),
-- Not materialized, because it is large; the figures read it once.
listed as not materialized (
  select
    known.*,
    sides.side,
    canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals,
    days_between(last_known_crawl_time, sides.snapshot_at) as days_since_crawl
  from states_as_of((select list(distinct {website_id: website_id, snapshot_id: snapshot_id}) from sides)) as known
  join sides on sides.website_id = known.website_id and sides.snapshot_id = as_of
  where is_listed(status) and is_selected(url, null, sides.directory, null, null)
),
by_state as materialized (
  select
    website_id,
    side,
    index_coverage_state,
    count(*) as pages,
    count_if(status = 'indexed') as indexed,
    count_if(status = 'not_indexed') as not_indexed,
    count_if(status = 'not_inspected') as not_inspected,
    count_if(status = 'no_data') as no_data,
    count_if(status = 'data_lost') as data_lost,
    count_if(days_since_crawl <= 7) as crawled_lately,
    count_if(days_since_crawl is null) as never_crawled,
    count_if(canonicals = 'match') as same_canonical,
    count_if(canonicals = 'differ') as other_canonical,
    count(report_fetched_at) as reported,
    count_if(len(report_sitemaps) > 0) as in_sitemap,
    count_if(report_blocked_by_robots_txt = 'Yes') as blocked,
    count_if(report_indexing_allowed = 'No') as refused,
    count_if(report_page_fetch_status <> 'Successful') as failed
  from listed
  where not $pages::boolean
  group by website_id, side, index_coverage_state
),
counted as (
  select website_id, side, sum(columns(* exclude (website_id, side, index_coverage_state)))::bigint
  from by_state
  group by website_id, side
),
totals as (
  select website_id, side, label, snapshot_id, coalesce(pages, 0) as pages
  from sides
  left join counted using (website_id, side)
),
-- Starts from the sides, because one without pages has no counts.
figures as (
  select website_id, side, unnest([
    {place: 1, figure: 'Pages', pages: counted.pages},
    {place: 2, figure: 'Indexed', pages: indexed},
    {place: 3, figure: 'Not indexed', pages: not_indexed},
    {place: 4, figure: if(by_inspection, 'Not inspected yet', null), pages: not_inspected},
    {place: 4, figure: 'No data', pages: no_data},
    {place: 4, figure: if(data_lost > 0, 'Data lost', null), pages: data_lost},
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
  select website_id, side, 5, 'State: ' || index_coverage_state, pages
  from by_state
  where index_coverage_state is not null
),
compared as (
  select
    website_id,
    place,
    figure,
    any_value(pages) filter (side = 'left') as left_count,
    any_value(pages) filter (side = 'right') as right_count
  from figures
  where figure is not null
  group by website_id, place, figure
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
    and (
      figure <> 'changed'
      or left_page.status <> right_page.status
      or left_page.index_coverage_state is distinct from right_page.index_coverage_state
      or left_page.searchengine_selected_canonical is distinct from right_page.searchengine_selected_canonical
      or left_page.user_selected_canonical is distinct from right_page.user_selected_canonical
    )
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
    -- One listing on both sides compares nothing, unless with another directory.
    if($other::varchar is null and left_side.snapshot_id = right_side.snapshot_id, null, right_pages - left_pages) as difference,
    round(left_pages / nullif(left_side.pages, 0), 4) as left_share,
    round(right_pages / nullif(right_side.pages, 0), 4) as right_share,
    if(difference is null, null, round(right_pages / nullif(right_side.pages, 0) - left_pages / nullif(left_side.pages, 0), 4)) as share_difference,
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
