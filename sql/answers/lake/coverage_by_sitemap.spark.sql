-- How much of each sitemap is indexed: the monitored pages whose last report names it. A page counts in each of its
-- sitemaps; `(none)` are pages in no sitemap, `(no report)` those without a report yet.
with listed as (
  select
    website_id,
    index_summary,
    explode(case
      when report_fetched_at is null then array('(no report)')
      when size(report_sitemaps) > 0 then array_distinct(report_sitemaps)
      else array('(none)')
    end) as sitemap
  from page_state
  where unlisted_since is null
)
select
  website_id,
  sitemap,
  count(*) as pages,
  count(case when index_summary = 'Indexed' then 1 end) as indexed,
  count(case when index_summary <> 'Indexed' then 1 end) as not_indexed,
  count(case when index_summary is null then 1 end) as without_data,
  floor(count(case when index_summary = 'Indexed' then 1 end) / count(*) * 10000 + 0.5) / 10000 as share_indexed
from listed
group by website_id, sitemap
order by pages desc, website_id, sitemap
