-- title: What de-indexed pages had in common
-- description: What pages were before they fell out of the index, compared with all pages that are indexed or fell: directory, URL template, depth, coverage state, canonical, crawl age, and by their last report before the fall sitemap, page fetch and robots.txt (`(not kept)`: retention removed the listing). `share` is the share among the fallen pages, `overall_share` among all compared ones, `lift` their quotient: 1 means nothing, 5 means that such a page fell five times as often as the average one. `p_value`: how likely that would be by chance, by Fisher's exact test times the number of values tested (Bonferroni). A combination of two is listed if each is significant within the other. The most significant come first. What they became: state_transitions with `deindexed`.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 6 days ago): fell on or after this date; by default on one of the last seven dates
-- param until (date, default today): fell on or before this date
-- param reindexed (boolean, default false): also pages that are indexed again now
-- param min_pages (integer, default 3): leaves out what fewer fallen pages share
-- param max_p (number, default 0.01): leaves out what has a larger p_value; 1 leaves nothing out
-- param limit (integer, default 30): at most this many rows, or none for all
-- grain: one row per website, dimension and value; combinations as `directory + sitemap`
-- show website_id (website): website
-- show dimension (text): before the fall
-- show value (text): value
-- show deindexed (count): de-indexed
-- show pages (count): of pages
-- show share (share): of the fallen
-- show overall_share (share): of all
-- show lift (number): lift
-- show p_value (number): p
with fell as (
  select website_id, url, max(observed_at) as fell_at, arg_max(from_snapshot_id, observed_at) as snapshot_id
  from page_changes
  where
    change = 'deindexed'
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
  group by website_id, url
),
was_listed as (
  select
    website_id,
    url,
    {
      state: coalesce(index_coverage_state, '(none)'),
      canonical: searchengine_selected_canonical,
      crawl_age: age_span(days_between(last_crawl_time, fell_at))
    } as listing
  from coverage
  join fell using (website_id, url, snapshot_id)
),
was_reported as (
  select
    website_id,
    url,
    arg_max({status: page_fetch_status, blocked: blocked_by_robots_txt, sitemaps: sitemaps}, fetched_at) as report
  from url_reports
  join fell using (website_id, url)
  where fetched_at < fell_at
  group by website_id, url
),
-- Pages that are indexed, and those that were before they fell.
population as (
  select
    pages.website_id,
    pages.url,
    fell.url is not null and ($reindexed::boolean or pages.is_indexed is not true) as is_fallen,
    if(is_fallen, was_listed.listing, {
      state: coalesce(index_coverage_state, '(none)'),
      canonical: searchengine_selected_canonical,
      crawl_age: age_span(days_between(last_crawl_time, listed_at))
    }) as listing,
    case
      when is_fallen then was_reported.report
      when report_fetched_at is not null
        then {status: report_page_fetch_status, blocked: report_blocked_by_robots_txt, sitemaps: report_sitemaps}
    end as report
  from pages
  left join fell using (website_id, url)
  left join was_listed using (website_id, url)
  left join was_reported using (website_id, url)
  where
    (is_fallen or (pages.is_monitored and pages.is_indexed))
    and pages.website_id in (select website_id from fell)
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
-- Starts with the values of the fallen pages, so that no others have to be counted among all pages.
fallen_values as materialized (
  select website_id, dimension, "value"
  from (
    select website_id, pages, unnest(traits, recursive := true)
    from alike
    where is_fallen
  )
  group by website_id, dimension, "value"
  having sum(pages) >= greatest($min_pages::bigint, 1)
),
traits as (
  select website_id, number, is_fallen, pages, unnest(traits, recursive := true)
  from alike
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
tested as materialized (
  select *, least(1, fisher_p(shared, with_value, fallen, pages) * count(*) over (partition by website_id)) as p_value
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
-- Combinations of the most significant values: each value is a bit, and pages are counted by their
-- bits.
distinct_causes as materialized (
  select
    website_id,
    dimension,
    "value",
    with_value,
    shared,
    1 << (row_number() over (partition by website_id order by p_value, with_value, dimension, "value") - 1)::integer as bit
  from tested
  where p_value <= 0.01
  qualify bit < 1 << 12
),
with_bits as (
  select website_id, bits, sum(pages) as pages, coalesce(sum(pages) filter (is_fallen), 0) as fallen
  from (
    select website_id, is_fallen, pages, bit_or(bit) as bits
    from traits
    join distinct_causes using (website_id, dimension, "value")
    group by website_id, number, is_fallen, pages
  )
  group by website_id, bits
),
pairs as (
  select
    website_id,
    one.dimension || ' + ' || other.dimension as dimension,
    one."value" || ' + ' || other."value" as "value",
    sum(with_bits.pages)::bigint as with_value,
    sum(with_bits.fallen)::bigint as shared,
    any_value(one.with_value) as with_one,
    any_value(one.shared) as shared_one,
    any_value(other.with_value) as with_other,
    any_value(other.shared) as shared_other
  from distinct_causes as one
  join distinct_causes as other using (website_id)
  join with_bits using (website_id)
  where one.dimension < other.dimension and with_bits.bits & one.bit > 0 and with_bits.bits & other.bit > 0
  group by website_id, one.dimension, one."value", other.dimension, other."value"
  having sum(with_bits.fallen) >= greatest($min_pages::bigint, 1)
),
-- Among the pages with either value, the other value must make a difference.
tested_pairs as (
  select
    pairs.*,
    pages,
    fallen,
    least(1, count(*) over (partition by website_id) * greatest(
      fisher_p(pairs.shared, pairs.with_value, shared_one, with_one),
      fisher_p(pairs.shared, pairs.with_value, shared_other, with_other)
    )) as p_value
  from pairs
  join totals using (website_id)
)
select
  website_id,
  dimension,
  "value",
  with_value as pages,
  shared as deindexed,
  round(shared / fallen, 4) as share,
  round(with_value / pages, 4) as overall_share,
  round((shared / fallen) / (with_value / pages), 2) as lift,
  p_value
from (
  from tested
  union all by name
  select * exclude (with_one, shared_one, with_other, shared_other) from tested_pairs where p_value <= 0.01
)
where p_value <= $max_p::double
order by p_value, shared - fallen * (with_value / pages) desc, website_id, dimension, "value"
limit $limit::bigint
