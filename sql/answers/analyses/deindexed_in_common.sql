-- title: What de-indexed pages had in common
-- description: What pages were in the listing before they fell out of the index, compared with all pages that were indexed in it: directory, URL template, depth, coverage state, canonical, crawl age, and by their last report of that time sitemap, page fetch and robots.txt. `share` is the share among the fallen pages, `overall_share` among all compared ones, `lift` their quotient: 1 means nothing, 5 means that such a page fell five times as often as the average one. Pages fall by whole sections, so a lift is no proof, and one page more or less of a section says nothing: the cause may be anything that the pages of a section share. A combination of two is listed if its lift is at least half as large again as that of each.
-- question: What fell out?
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param min_pages (integer, default 5): leaves out what fewer fallen pages share
-- param min_share (number, default 0.1): leaves out what a smaller share of the fallen pages have
-- param min_lift (number, default 1.5): leaves out what has a smaller lift
-- param limit (integer, default 30): at most this many rows, or none for all
-- grain: one row per website, dimension and value; combinations as `directory + sitemap`
-- show dimension (text): before the fall
-- show value (text): value
-- show fell_out (count): fell out
-- show pages (count): of pages
-- show share (share): of the fallen
-- show overall_share (share): of all
-- show lift (number): lift
with asked as (
  select website_id, before_id, listing_id, snapshots.snapshot_at as before_at
  from period_listings($since::date, $until::date)
  join snapshots using (website_id)
  where snapshots.snapshot_id = before_id and is_website(website_id, $website::varchar)
),
fell as (
  select website_id, url
  from net_moves((select list({website_id: website_id, before_id: before_id, listing_id: listing_id}) from asked))
  where move = 'fell_out'
),
-- Pages that are alike in all that their traits are made of count together, by the traits of one of them.
alike as (
  select
    website_id,
    fell.url is not null as is_fallen,
    any_value(url) as url,
    parts.folder as folder,
    segment_template(parts.name, true) as name,
    if(parts.rest = '', '', regexp_replace(regexp_extract(parts.rest, '[?][^#]*'), '=[^&]*', '', 'g')) as asked_for,
    coalesce(index_coverage_state, '(none)') as state,
    canonical_kind(url, searchengine_selected_canonical) as canonical,
    age_span(days_between(last_known_crawl_time, before_at)) as crawl_age,
    report_fetched_at is not null as is_reported,
    report_page_fetch_status as fetch_status,
    report_blocked_by_robots_txt as blocked,
    report_sitemaps as sitemaps,
    count(*) as pages
  from (
    select *, regexp_extract(url, '(?s)^([^?#]*/)?([^?#]*)(.*)$', ['folder', 'name', 'rest']) as parts
    from versions_as_of((select list({website_id: website_id, snapshot_id: before_id}) from asked))
    where status = 'indexed'
  )
  join asked using (website_id)
  left join fell using (website_id, url)
  group by all
),
described as materialized (
  select
    website_id,
    is_fallen,
    pages,
    row_number() over () as number,
    traits_of(
      url,
      {state: state, canonical: canonical, crawl_age: crawl_age},
      if(is_reported, {status: fetch_status, blocked: blocked, sitemaps: sitemaps}, null)
    ) as traits
  from alike
),
totals as (
  select website_id, sum(pages)::bigint as pages, coalesce(sum(pages) filter (is_fallen), 0)::bigint as fallen
  from described
  group by website_id
),
traits as (
  select website_id, number, is_fallen, pages, unnest(traits, recursive := true)
  from described
),
counted as materialized (
  select
    website_id,
    dimension,
    "value",
    sum(pages)::bigint as with_value,
    coalesce(sum(pages) filter (is_fallen), 0)::bigint as shared
  from traits
  group by website_id, dimension, "value"
  having shared >= greatest($min_pages::bigint, 1)
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
    share / overall_share as lift,
    fallen,
    pages as compared
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
-- Combinations of the values that most stand out.
singled_out as materialized (
  select website_id, number, is_fallen, pages, dimension, "value", lift as lift_alone, fallen, compared
  from traits
  join (
    from measured
    where lift >= $min_lift::double and share >= $min_share::double
    qualify row_number() over (partition by website_id order by lift desc, with_value, dimension, "value") <= 12
  ) as measured using (website_id, dimension, "value")
),
pairs as (
  select
    website_id,
    one.dimension || ' + ' || other.dimension as dimension,
    one."value" || ' + ' || other."value" as "value",
    sum(one.pages)::bigint as with_value,
    coalesce(sum(one.pages) filter (one.is_fallen), 0)::bigint as shared,
    shared / any_value(one.fallen) as share,
    with_value / any_value(one.compared) as overall_share,
    share / overall_share as lift
  from singled_out as one
  join singled_out as other using (website_id, number)
  where one.dimension < other.dimension
  group by website_id, one.dimension, one."value", other.dimension, other."value"
  having shared >= greatest($min_pages::bigint, 1) and lift >= 1.5 * greatest(any_value(one.lift_alone), any_value(other.lift_alone))
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
  from pairs
)
where lift >= $min_lift::double and share >= $min_share::double
order by lift desc, shared desc, website_id, dimension, "value"
limit $limit::bigint
