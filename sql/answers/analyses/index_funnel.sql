-- title: From discovered to indexed
-- description: Of the pages that were first listed in a week, how many have been crawled and how many indexed by now, and how long that takes. `indexed_in_7_days` and so on are shares of all discovered pages, empty until the whole week is that old. The medians count pages that still wait (Kaplan and Meier's), so they are empty until half of the pages have taken the step. The clock starts when the search engine detected the page, or with its first listing if that came first or no report says when. A first crawl is known at the latest by the listing that saw it; a page that was indexed has been crawled, too. `gone` are pages that are no longer listed; those that were not indexed by then count as waiting until they left. Pages of a website's first complete listing are not new and have no row.
-- question: Is it growing?
-- param since (date, default 12 weeks ago): first listed on or after this date
-- param until (date, default today): first listed on or before this date
-- grain: one row per website and week, which begins on Monday
-- show week (date): week of
-- show age_weeks (count): weeks old
-- show discovered (count): discovered
-- show crawled (count): crawled
-- show indexed (count): indexed
-- show indexed_in_7_days (share): in 7 days
-- show indexed_in_14_days (share): in 14 days
-- show indexed_in_28_days (share): in 28 days
-- show median_days_to_crawl (number): days to crawl
-- show median_days_to_index (number): days to index
-- show gone (count): gone
with discovered as (
  select website_id, url, observed_at as seen_at, snapshot_date
  from page_versions
  where
    -- A page that returns was listed before; one of the first listing did not appear.
    was_status is null
    and list_contains(changes, 'appeared')
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
reached as (
  select
    website_id,
    url,
    min(observed_at) filter (status = 'indexed') as indexed_at,
    min(last_crawl_time) as crawled_at
  from page_versions
  semi join discovered using (website_id, url)
  where snapshot_date >= $since::date
  group by website_id, url
),
timed as (
  select
    discovered.website_id,
    url,
    date_trunc('week', discovered.snapshot_date)::date as week,
    least(seen_at, report_page_detection) as began_at,
    least(crawled_at, indexed_at) as crawled_at,
    indexed_at,
    newest_at(discovered.website_id) as newest_at,
    unlisted_since
  from discovered
  join reached using (website_id, url)
  left join page_state using (website_id, url)
),
-- How long each page waited for each step, and whether it has taken it or still waited when it was last seen.
waits as (
  select website_id, week, step, taken_at, days_between(began_at, coalesce(taken_at, unlisted_since, newest_at)) as days
  from (
    select *, unnest([{step: 'crawl', taken_at: crawled_at}, {step: 'index', taken_at: indexed_at}], recursive := true)
    from timed
  )
),
curve as (
  select
    website_id,
    week,
    step,
    days,
    count(taken_at) / sum(count(*)) over (
      partition by website_id, week, step order by days rows between current row and unbounded following
    ) as share_taken
  from waits
  group by website_id, week, step, days
),
waiting as (
  select *, product(1 - share_taken) over (partition by website_id, week, step order by days) as still_waiting
  from curve
),
medians as (
  select
    website_id,
    week,
    -- Quotients of counts: half may be a little more in binary.
    min(days) filter (step = 'crawl' and still_waiting < 0.5 + 1e-9) as median_days_to_crawl,
    min(days) filter (step = 'index' and still_waiting < 0.5 + 1e-9) as median_days_to_index
  from waiting
  group by website_id, week
),
counted as (
  select
    website_id,
    week,
    date_diff('week', week, $until::date) as age_weeks,
    count(*) as discovered,
    count(crawled_at) as crawled,
    count(indexed_at) as indexed,
    -- Days that even the last page of the week has been observed for.
    days_between((week + 7)::timestamptz, any_value(newest_at)) as days_seen,
    count_if(days_between(began_at, indexed_at) <= 7) / discovered as in_7,
    count_if(days_between(began_at, indexed_at) <= 14) / discovered as in_14,
    count_if(days_between(began_at, indexed_at) <= 28) / discovered as in_28,
    count(unlisted_since) as gone
  from timed
  group by website_id, week
)
select
  website_id,
  week,
  age_weeks,
  discovered,
  crawled,
  indexed,
  round(crawled / discovered, 4) as share_crawled,
  round(indexed / discovered, 4) as share_indexed,
  if(days_seen >= 7, round(in_7, 4), null) as indexed_in_7_days,
  if(days_seen >= 14, round(in_14, 4), null) as indexed_in_14_days,
  if(days_seen >= 28, round(in_28, 4), null) as indexed_in_28_days,
  median_days_to_crawl,
  median_days_to_index,
  gone
from counted
left join medians using (website_id, week)
order by website_id, week
