-- title: What de-indexed pages had in common
-- description: What pages were in the listing before they fell out of the index, compared with all pages that were indexed in it: directory, URL template, depth, coverage state, canonical, crawl age, and by their last report of that time sitemap, page fetch and robots.txt. `share` is the share among the fallen pages, `overall_share` among all compared ones, `lift` their quotient: 1 means nothing, 5 means that such a page fell five times as often as the average one. Pages fall by whole sections, so a lift is no proof, and one page more or less of a section says nothing: the cause may be anything that the pages of a section share. A combination of two is listed if its lift is at least half as large again as that of each.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param min_pages (integer, default 5): leaves out what fewer fallen pages share
-- param min_share (number, default 0.1): leaves out what a smaller share of the fallen pages have
-- param min_lift (number, default 1.5): leaves out what has a smaller lift
-- param limit (integer, default 30): at most this many rows, or none for all
-- grain: one row per website, dimension and value; combinations as `directory + sitemap`
-- show website_id (website): website
-- show dimension (text): before the fall
-- show value (text): value
-- show fell_out (count): fell out
-- show pages (count): of pages
-- show share (share): of the fallen
-- show overall_share (share): of all
-- show lift (number): lift
with asked as (
  select website_id, before_id, snapshots.snapshot_at as before_at
  from period_listings($since::date, $until::date)
  join snapshots using (website_id)
  where snapshots.snapshot_id = before_id and is_website(website_id, $website::varchar)
),
compared as (
  select website_id, url, move is not distinct from 'fell_out' as is_fallen
  from index_moves($since::date, $until::date)
  where was_indexed and is_website(website_id, $website::varchar)
),
population as (
  select
    website_id,
    url,
    is_fallen,
    {
      state: coalesce(index_coverage_state, '(none)'),
      canonical: searchengine_selected_canonical,
      crawl_age: age_span(days_between(last_known_crawl_time, before_at))
    } as listing,
    if(report_fetched_at is null, null, {
      status: report_page_fetch_status,
      blocked: report_blocked_by_robots_txt,
      sitemaps: report_sitemaps
    }) as report
  from compared
  join versions_as_of((select list({website_id: website_id, snapshot_id: before_id}) from asked)) as known
    using (website_id, url)
  join asked using (website_id)
),
-- Pages that are alike in everything count together.
alike as materialized (
  select
    website_id,
    is_fallen,
    traits_of(url, listing, report) as traits,
    count(*) as pages,
    row_number() over () as number
  from population
  group by website_id, is_fallen, traits
),
totals as (
  select website_id, sum(pages)::bigint as pages, coalesce(sum(pages) filter (is_fallen), 0)::bigint as fallen
  from alike
  group by website_id
),
traits as (
  select website_id, number, is_fallen, pages, unnest(traits, recursive := true)
  from alike
),
-- Starts with the values of the fallen pages, so that no others have to be counted among all pages.
fallen_values as materialized (
  select website_id, dimension, "value"
  from traits
  where is_fallen
  group by website_id, dimension, "value"
  having sum(pages) >= greatest($min_pages::bigint, 1)
),
counted as materialized (
  select
    website_id,
    dimension,
    "value",
    sum(pages)::bigint as with_value,
    coalesce(sum(pages) filter (is_fallen), 0)::bigint as shared
  from traits
  semi join fallen_values using (website_id, dimension, "value")
  group by website_id, dimension, "value"
),
measured as materialized (
  select
    website_id,
    dimension,
    "value",
    with_value,
    shared,
    shared / fallen as share,
    with_value / pages as overall_share,
    (shared / fallen) / (with_value / pages) as lift
  from counted
  join totals using (website_id)
  where not exists (
    -- The template matches the same pages as its directory.
    from counted as wider
    where
      counted.dimension = 'template'
      and wider.dimension = 'directory'
      and wider.website_id = counted.website_id
      and starts_with(counted."value", wider."value")
      and wider.with_value = counted.with_value
  )
),
-- Combinations of the values that most stand out: each value is a bit, and pages are counted by their bits.
singled_out as materialized (
  select
    *,
    1 << (row_number() over (partition by website_id order by lift desc, with_value, dimension, "value") - 1)::integer as bit
  from measured
  where lift >= $min_lift::double and share >= $min_share::double
  qualify bit < 1 << 12
),
with_bits as (
  select website_id, bits, sum(pages) as pages, coalesce(sum(pages) filter (is_fallen), 0) as fallen
  from (
    select website_id, is_fallen, pages, bit_or(bit) as bits
    from traits
    join singled_out using (website_id, dimension, "value")
    group by website_id, number, is_fallen, pages
  )
  group by website_id, bits
),
pairs as (
  select
    website_id,
    one.dimension || ' + ' || other.dimension as dimension,
    one."value" || ' + ' || other."value" as "value",
    sum(with_bits.pages)::bigint as with_both,
    sum(with_bits.fallen)::bigint as sharing,
    greatest(any_value(one.lift), any_value(other.lift)) as lift_alone
  from singled_out as one
  join singled_out as other using (website_id)
  join with_bits using (website_id)
  where one.dimension < other.dimension and with_bits.bits & one.bit > 0 and with_bits.bits & other.bit > 0
  group by website_id, one.dimension, one."value", other.dimension, other."value"
  having sharing >= greatest($min_pages::bigint, 1)
),
measured_pairs as (
  select
    website_id,
    dimension,
    "value",
    with_both as with_value,
    sharing as shared,
    sharing / fallen as share,
    with_both / pages as overall_share,
    (sharing / fallen) / (with_both / pages) as lift
  from pairs
  join totals using (website_id)
  where (sharing / fallen) / (with_both / pages) >= 1.5 * lift_alone
)
select
  website_id,
  dimension,
  "value",
  with_value as pages,
  shared as fell_out,
  round(share, 4) as share,
  round(overall_share, 4) as overall_share,
  round(lift, 2) as lift
from (
  from measured
  union all by name
  from measured_pairs
)
where lift >= $min_lift::double and share >= $min_share::double
order by lift desc, shared desc, website_id, dimension, "value"
limit $limit::bigint
