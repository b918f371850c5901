-- title: Time to index for new pages
-- description: How long new pages take from their first listing to being indexed, by the week in which they appeared. `half_indexed_after_days` counts all of them, including those still waiting or gone, so it is null until half are indexed. `not_yet` are still waiting, `gone` disappeared without being indexed. Pages of a website's first snapshot are not new.
-- question: Is it growing?
-- param website (text, default all): id or name of one website
-- param since (date, default 90 days ago): appeared on or after this date
-- param until (date, default today): appeared on or before this date
-- grain: one row per website and week, which begins on Monday
-- show website_id (website): website
-- show week (date): week of
-- show pages (count): new pages
-- show indexed (count): indexed
-- show share_indexed (share): share
-- show not_yet (count): not yet
-- show gone (count): gone
-- show half_indexed_after_days (count): half after days
-- show fastest_days (count): fastest
-- show slowest_days (count): slowest
with appeared as (
  select website_id, url, observed_at as appeared_at, snapshot_date
  from page_changes
  where
    change = 'appeared'
    -- A page that returns was listed before.
    and from_snapshot_id is null
    and snapshot_date between $since::date and $until::date
    and is_website(website_id, $website::varchar)
),
first_indexed as (
  select website_id, url, min(observed_at) as indexed_at
  from page_changes
  semi join appeared using (website_id, url)
  where change = 'indexed' or (change = 'appeared' and to_value = 'Indexed')
  group by website_id, url
),
timed as (
  select
    appeared.website_id,
    date_trunc('week', appeared.snapshot_date)::date as week,
    days_between(appeared.appeared_at, first_indexed.indexed_at) as days,
    pages.is_monitored
  from appeared
  left join first_indexed using (website_id, url)
  left join pages using (website_id, url)
)
select
  website_id,
  week,
  count(*) as pages,
  count(days) as indexed,
  count(*) filter (days is null and is_monitored) as not_yet,
  count(*) filter (days is null and not is_monitored) as gone,
  round(count(days) / count(*), 4) as share_indexed,
  nullif(quantile_disc(coalesce(days::double, 'infinity'::double), 0.5), 'infinity'::double)::bigint
    as half_indexed_after_days,
  min(days) as fastest_days,
  max(days) as slowest_days
from timed
group by website_id, week
order by website_id, week
