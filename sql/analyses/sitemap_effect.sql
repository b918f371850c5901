-- title: Effect of joining a sitemap
-- description: Whether pages that joined a sitemap are indexed more since: their share indexed before and after, beside that of the website's pages that were never in it, over the same two listings and only pages that are in both. `effect` is the difference of the two changes (difference in differences): 0.1 means ten percentage points more than the others. `before_date` is the last complete listing before the joining date, `after_date` the last one within `days` after it. A page joins on the date of the first report that names the sitemap after one that does not; it may have joined up to `report_gap_days` (median) earlier, because reports are as old as their last fetch. Pages whose first report already names it count on neither side. It is a comparison, no proof: pages are not put into a sitemap by chance.
-- question: Sitemaps
-- param website (text, default all): id or name of one website
-- param sitemap (text, default all): URL of one sitemap
-- param since (date, default 90 days ago): joined on or after this date
-- param until (date, default today): joined on or before this date
-- param days (integer, default 28): days after joining that are waited for, or until the newest listing
-- param min_pages (integer, default 5): leaves out joining dates with fewer pages to compare
-- param limit (integer, default 20): at most this many rows, those with most pages, or none for all
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
-- All pages that were ever in it. One whose first event is leaving was in it from its first report on, as one without
-- an event.
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
-- What a listing held that retention put out of use is not known any more.
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
    any_value(joined) as joined,
    arg_max(snapshot_id, snapshot_at) filter (listings.snapshot_date < joined_on) as before_id,
    max(listings.snapshot_date) filter (listings.snapshot_date < joined_on) as before_date,
    arg_max(snapshot_id, snapshot_at) as after_id,
    max(listings.snapshot_date) as after_date
  from (
    select website_id, sitemap, joined_on, count(*) as joined
    from members
    where joined_on between $since::date and $until::date
    group by website_id, sitemap, joined_on
    having joined >= $min_pages::bigint
    order by joined desc, joined_on desc, sitemap, website_id
    limit $limit::bigint
  )
  join listings using (website_id)
  where listings.snapshot_date <= joined_on + $days::integer
  group by website_id, sitemap, joined_on
  having before_id is not null and after_date >= joined_on
),
listed as (
  select snapshot_id, website_id, url, coalesce(index_summary = 'Indexed', false) as is_indexed
  from coverage
  where snapshot_id in (select unnest([before_id, after_id]) from cohorts)
),
panel as (
  select before_id, after_id, earlier.url, earlier.is_indexed as was_indexed, later.is_indexed
  from (select distinct before_id, after_id from cohorts)
  join listed as earlier on earlier.snapshot_id = before_id
  join listed as later on later.snapshot_id = after_id and later.url = earlier.url
),
-- Who joined that day, and who never was in it, before and after.
counted as (
  select
    cohorts.*,
    count_if(members.joined_on = cohorts.joined_on) as pages,
    count_if(members.joined_on = cohorts.joined_on and was_indexed) as indexed_before,
    count_if(members.joined_on = cohorts.joined_on and is_indexed) as indexed_after,
    count_if(members.url is null) as others,
    count_if(members.url is null and was_indexed) as others_before,
    count_if(members.url is null and is_indexed) as others_after,
    median(if(members.joined_on = cohorts.joined_on, cohorts.joined_on - reported.snapshot_date, null)) as report_gap_days
  from cohorts
  join panel using (before_id, after_id)
  left join members
    on members.website_id = cohorts.website_id
    and members.sitemap = cohorts.sitemap
    and members.url = panel.url
  left join snapshots as reported on reported.snapshot_id = members.from_snapshot_id
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
