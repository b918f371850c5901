-- title: Coverage by sitemap
-- description: How much of each sitemap is indexed: the monitored pages whose last report names it, and how their last listing has them. A page counts in each of its sitemaps; `(none)` are pages in no sitemap, `(no report)` those without a report yet. Which sitemaps a page is in is as old as its report, counted from the newest snapshot: `median_report_age_days`. The shares of two sitemaps are not comparable: pages are put into sitemaps for what they are, so a share says nothing of what the sitemap did.
-- question: Sitemaps
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and sitemap
-- show sitemap (url): sitemap
-- show pages (count): pages
-- show indexed (count): indexed
-- show share_indexed (share): of pages
-- show not_indexed (count): not indexed
-- show without_data (count): no data
-- show median_report_age_days (number): report age in days
with listed as (
  select
    website_id,
    index_summary,
    days_between(report_fetched_at, newest_at(website_id)) as report_age,
    unnest(case
      when report_fetched_at is null then ['(no report)']
      when len(report_sitemaps) > 0 then list_distinct(report_sitemaps)
      else ['(none)']
    end) as sitemap
  from page_state
  where
    is_listed(status)
    and is_website(website_id, $website::varchar)
)
select
  website_id,
  sitemap,
  count(*) as pages,
  count(*) filter (index_summary = 'Indexed') as indexed,
  count(*) filter (index_summary <> 'Indexed') as not_indexed,
  count(*) filter (index_summary is null) as without_data,
  -- Null where nothing is known of any page.
  round(count(*) filter (index_summary = 'Indexed') / if(count(index_summary) > 0, count(*), null), 4) as share_indexed,
  median(report_age) as median_report_age_days
from listed
group by website_id, sitemap
order by pages desc, website_id, sitemap
limit $limit::bigint
