-- title: Last crawl and change of state
-- description: Days between a page's last crawl and the snapshot that saw its state change. `after_new_crawl` counts changes that came with a new crawl since the previous listing; the others changed without one. `crawl_unknown` counts those whose listing retention removed. Days are whole days, over all other changes of crawled pages.
-- question: Crawling
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): first date
-- param until (date, default today): last date
-- grain: one row per website and kind of change: indexed, deindexed, coverage_state
-- show website_id (website): website
-- show change (text): change
-- show changes (count): changes
-- show after_new_crawl (count): after a new crawl
-- show median_days (number): median days
-- show ninth_tenth_days (number): 90% within days
-- show most_days (number): most days
-- show never_crawled (count): never crawled
-- show crawl_unknown (count): crawl unknown
with changes as (
  select website_id, commit_id, snapshot_id, url, change, observed_at
  from page_changes
  where
    change in ('indexed', 'deindexed', 'coverage_state', 'crawled')
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
changed as (
  select * from changes where change <> 'crawled'
),
crawled as (
  select commit_id, url from changes where change = 'crawled'
),
listed as (
  select commit_id, url, last_crawl_time
  from coverage
  semi join changed using (commit_id, url)
  where snapshot_date between $since::date and $until::date
),
timed as (
  select
    changed.website_id,
    changed.change,
    crawled.url is not null as is_new_crawl,
    listed.url is null as is_unknown,
    listed.url is not null and listed.last_crawl_time is null as is_never_crawled,
    days_between(listed.last_crawl_time, changed.observed_at) as days
  from changed
  left join listed using (commit_id, url)
  left join crawled using (commit_id, url)
)
select
  website_id,
  change,
  count(*) as changes,
  count(*) filter (is_new_crawl) as after_new_crawl,
  count(*) filter (is_never_crawled) as never_crawled,
  median(days) as median_days,
  quantile_disc(days, 0.9) as ninth_tenth_days,
  max(days) as most_days,
  count(*) filter (is_unknown) as crawl_unknown
from timed
group by website_id, change
order by website_id, change
