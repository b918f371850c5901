-- title: From discovered to indexed
-- description: Of the pages that were first listed in a week, how many have been crawled and how many indexed by now, and how long each step took. A page that was indexed has been crawled, too. The medians are over the pages that took the step: from the first listing to the first crawl (0 where that was before), from the crawl to the first listing as indexed, and from the first listing to it. Pages of a website's first complete listing are not new and have no row. Where retention removed listings, a crawl may be known later or not at all.
-- question: Is it growing?
-- param website (text, default all): id or name of one website
-- param since (date, default 12 weeks ago): first listed on or after this date
-- param until (date, default today): first listed on or before this date
-- grain: one row per website and week, which begins on Monday
-- show website_id (website): website
-- show week (date): week of
-- show age_weeks (count): weeks old
-- show discovered (count): discovered
-- show crawled (count): crawled
-- show share_crawled (share): share
-- show indexed (count): indexed
-- show share_indexed (share): share
-- show median_days_to_crawl (number): days to crawl
-- show median_days_to_index (number): days to index
-- show gone (count): gone
with discovered as (
  select website_id, url, observed_at as seen_at, snapshot_date
  from page_changes
  where
    change = 'appeared'
    -- A page that returns was listed before.
    and from_snapshot_id is null
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
indexed as (
  select website_id, url, min(observed_at) as indexed_at
  from page_changes
  semi join discovered using (website_id, url)
  where change = 'indexed' or (change = 'appeared' and to_value = 'Indexed')
  group by website_id, url
),
crawled as (
  select website_id, url, min(last_crawl_time) as crawled_at
  from coverage
  semi join discovered using (website_id, url)
  where
    last_crawl_time is not null
    and snapshot_date >= $since::date
  group by website_id, url
),
timed as (
  select
    discovered.website_id,
    date_trunc('week', discovered.snapshot_date)::date as week,
    crawled.url is not null or indexed.url is not null as is_crawled,
    indexed.url is not null as is_indexed,
    days_between(seen_at, crawled_at) as days_to_crawl,
    days_between(crawled_at, indexed_at) as days_from_crawl,
    days_between(seen_at, indexed_at) as days_to_index,
    pages.is_monitored
  from discovered
  left join crawled using (website_id, url)
  left join indexed using (website_id, url)
  left join pages using (website_id, url)
)
select
  website_id,
  week,
  date_diff('week', week, $until::date) as age_weeks,
  count(*) as discovered,
  count_if(is_crawled) as crawled,
  count_if(is_indexed) as indexed,
  round(crawled / discovered, 4) as share_crawled,
  round(indexed / discovered, 4) as share_indexed,
  round(indexed / nullif(crawled, 0), 4) as share_indexed_of_crawled,
  median(days_to_crawl) as median_days_to_crawl,
  median(days_from_crawl) as median_days_from_crawl,
  median(days_to_index) as median_days_to_index,
  count_if(not is_monitored) as gone
from timed
group by website_id, week
order by website_id, week
