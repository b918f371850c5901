-- title: De-indexed pages by directory
-- description: Which directories the pages that fell out of the index lie in, beside all pages of the directory.
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): de-indexed on or after this date
-- param limit (integer, default 10): at most this many rows, or none for all
-- grain: one row per website and first directory of the URL's path
with monitored as (
  select website_id, url, directory_of(url) as directory
  from pages
  where disappeared_at is null
),
fallen as (
  select distinct website_id, url
  from page_changes
  where change = 'deindexed'
    and snapshot_date >= $since::date
    and (
      $website::varchar is null
      or website_id in (select website_id from snapshots where $website::varchar in (website_id, website_name))
    )
)
select
  monitored.website_id,
  monitored.directory,
  count(*) as pages,
  count(fallen.url) as deindexed,
  round(count(fallen.url) / count(*), 4) as share_deindexed
from monitored
left join fallen using (website_id, url)
group by all
having count(fallen.url) > 0
order by deindexed desc, directory
limit $limit::bigint
