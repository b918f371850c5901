-- title: Effect of joining a sitemap
-- description: Whether pages that joined a sitemap are indexed more since: their share indexed before and after, beside that of the website's pages that were never in it, over the same two listings and only pages that are in both. `effect` is the difference of the two changes (difference in differences): 0.1 means ten percentage points more than the others. `before_date` is the last complete listing before the joining date, `after_date` the last one within `days` after it. A page joins on the date of the first report that names the sitemap after one that does not; it may have joined up to `report_gap_days` (median) earlier, because reports are as old as their last fetch. Pages whose first report already names it count on neither side. It is a comparison, no proof: pages are not put into a sitemap by chance.
-- question: Sitemaps
-- param website (text, default all): id or name of one website
-- param sitemap (text, default all): URL of one sitemap
-- param since (date, default 90 days ago): joined on or after this date
-- param until (date, default today): joined on or before this date
-- param days (integer, default 28): days after joining that are waited for, or until the newest listing
-- param min_pages (integer, default 5): leaves out joining dates with fewer pages to compare
-- param limit (integer, default 20): at most this many rows, those with most pages; none for 64
-- grain: one row per website, sitemap and joining date
-- show website_id (website): website
-- show joined_on (date): joined
-- show sitemap (url): sitemap
-- show pages (count): pages
-- show share_before (share): before
-- show share_after (share): after
-- show others_share_before (share): others before
-- show others_share_after (share): others after
-- show effect (share): effect
-- show after_date (date): after is
with moves as (
  select
    website_id,
    url,
    snapshot_date,
    observed_at,
    from_snapshot_id,
    coalesce(from_value::json::varchar[], []) as was_in,
    coalesce(to_value::json::varchar[], []) as is_in
  from page_changes
  where
    change = 'sitemaps'
    and is_website(website_id, $website::varchar)
),
events as (
  select moves.*, sitemap, list_contains(is_in, sitemap) as is_joining
  from moves, unnest(list_distinct(was_in || is_in)) as named (sitemap)
  where list_contains(was_in, sitemap) <> list_contains(is_in, sitemap)
),
first_events as (
  select
    website_id,
    sitemap,
    url,
    arg_min({is_joining: is_joining, happened_on: snapshot_date, from_snapshot_id: from_snapshot_id}, observed_at)
      as event
  from events
  where $sitemap::varchar is null or sitemap = $sitemap::varchar
  group by website_id, sitemap, url
),
-- All pages that were ever in the sitemap. A page whose first event is leaving, or without events, was in it from its
-- first report on.
members as (
  select
    website_id,
    sitemap,
    url,
    if(event.is_joining, event.happened_on, null) as joined_on,
    event.from_snapshot_id
  from first_events
  union all
  select website_id, sitemap, url, null, null
  from (select website_id, url, unnest(list_distinct(report_sitemaps)) as sitemap from pages)
  anti join first_events using (website_id, sitemap, url)
),
-- Retention has removed the rows of these listings.
listings as (
  select website_id, snapshot_id, snapshot_at, snapshot_date
  from snapshots
  where
    listing_status = 'complete'
    and snapshot_id not in (select commit_id from tombstones where table_name = 'coverage')
),
cohorts as (
  select
    website_id,
    sitemap,
    joined_on,
    any_value(report_gap_days) as report_gap_days,
    arg_max(snapshot_id, snapshot_at) filter (listings.snapshot_date < joined_on) as before_id,
    max(listings.snapshot_date) filter (listings.snapshot_date < joined_on) as before_date,
    arg_max(snapshot_id, snapshot_at) as after_id,
    max(listings.snapshot_date) as after_date
  from (
    select
      members.website_id,
      sitemap,
      joined_on,
      count(*) as joined,
      median(joined_on - reported.snapshot_date) as report_gap_days
    from members
    join snapshots as reported on reported.snapshot_id = from_snapshot_id
    where joined_on between $since::date and $until::date
    group by members.website_id, sitemap, joined_on
    having joined >= $min_pages::bigint
    order by joined desc, joined_on desc, sitemap, members.website_id
    -- Each row needs two listings, and there are 128 bits.
    limit least($limit::bigint, 64)
  )
  join listings using (website_id)
  where listings.snapshot_date <= joined_on + $days::integer
  group by website_id, sitemap, joined_on
  having before_id is not null and after_date >= joined_on
),
-- The compared listings, with a bit for each.
bits as (
  select snapshot_id, 1::uhugeint << (row_number() over (order by snapshot_id) - 1)::uhugeint as bit
  from (select distinct unnest([before_id, after_id]) as snapshot_id from cohorts)
),
-- Which of them list each page, and which as indexed.
listed as (
  select
    coverage.website_id,
    url,
    bit_or(bit) as listed_in,
    coalesce(bit_or(bit) filter (index_summary = 'Indexed'), 0) as indexed_in
  from coverage
  join bits using (snapshot_id)
  group by coverage.website_id, url
),
alike as (
  select sitemaps.*, members.url is not null as is_member, members.joined_on, listed_in, indexed_in, count(*) as pages
  from (select distinct website_id, sitemap from cohorts) as sitemaps
  join listed using (website_id)
  left join members using (website_id, sitemap, url)
  group by all
),
-- Pages that joined that day and pages that never did, before and after.
counted as (
  select
    cohorts.*,
    coalesce(sum(alike.pages) filter (is_member), 0)::bigint as pages,
    coalesce(sum(alike.pages) filter (is_member and indexed_in & earlier.bit <> 0), 0)::bigint as indexed_before,
    coalesce(sum(alike.pages) filter (is_member and indexed_in & later.bit <> 0), 0)::bigint as indexed_after,
    coalesce(sum(alike.pages) filter (not is_member), 0)::bigint as others,
    coalesce(sum(alike.pages) filter (not is_member and indexed_in & earlier.bit <> 0), 0)::bigint as others_before,
    coalesce(sum(alike.pages) filter (not is_member and indexed_in & later.bit <> 0), 0)::bigint as others_after
  from cohorts
  join bits as earlier on earlier.snapshot_id = before_id
  join bits as later on later.snapshot_id = after_id
  join alike
    on alike.website_id = cohorts.website_id
    and alike.sitemap = cohorts.sitemap
    and (not is_member or alike.joined_on = cohorts.joined_on)
    and listed_in & earlier.bit <> 0
    and listed_in & later.bit <> 0
  group by all
)
select
  website_id,
  sitemap,
  joined_on,
  pages,
  before_date,
  after_date,
  round(indexed_before / nullif(pages, 0), 4) as share_before,
  round(indexed_after / nullif(pages, 0), 4) as share_after,
  others,
  round(others_before / nullif(others, 0), 4) as others_share_before,
  round(others_after / nullif(others, 0), 4) as others_share_after,
  round(
    (indexed_after - indexed_before) / nullif(pages, 0) - (others_after - others_before) / nullif(others, 0),
    4
  ) as effect,
  report_gap_days
from counted
where pages >= greatest($min_pages::bigint, 1)
order by joined_on desc, pages desc, website_id, sitemap
