-- title: De-indexed pages by directory
-- description: The directories of the pages that fell out of the index, with the number of all pages of the directory: monitored ones, and those that fell out and disappeared since. Pages that are indexed again count, too, as in `deindexed_pages` with `reindexed`.
-- question: What fell out?
-- param website (text, default all): id or name of one website
-- param since (date, default 30 days ago): de-indexed on or after this date
-- param limit (integer, default 10): at most this many rows, or none for all
-- grain: one row per website and first directory of the URL's path
-- show website_id (website): website
-- show directory (text): directory
-- show pages (count): pages
-- show deindexed (count): de-indexed
-- show share_deindexed (share): share
with fallen as (
  select distinct website_id, url
  from page_changes
  where change = 'deindexed'
    and snapshot_date >= $since::date
    and is_website(website_id, $website::varchar)
)
select
  pages.website_id,
  directory_of(pages.url) as directory,
  count(*) as pages,
  count(fallen.url) as deindexed,
  round(count(fallen.url) / count(*), 4) as share_deindexed
from pages
left join fallen using (website_id, url)
where
  (pages.is_monitored or fallen.url is not null)
  and pages.website_id in (select website_id from fallen)
group by pages.website_id, directory_of(pages.url)
having count(fallen.url) > 0
order by deindexed desc, pages.website_id, directory
limit $limit::bigint
