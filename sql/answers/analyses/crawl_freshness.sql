-- title: Crawl freshness
-- description: How long ago the search engine last crawled the monitored pages, counted from the website's newest snapshot. `unknown` are pages of which there is no data, such as those of a property that were not inspected.
-- question: Crawling
-- grain: one row per website and span of days since the last crawl
-- show last_crawl (text): last crawl
-- show pages (count): pages
-- show share (share): of all pages
-- show indexed (count): indexed
-- show oldest_crawl_time (time): oldest
select
  website_id,
  crawl_span(status, days_between(last_known_crawl_time, newest_at(website_id))) as last_crawl,
  count(*) as pages,
  count(*) filter (index_summary = 'Indexed') as indexed,
  round(count(*) / sum(count(*)) over (partition by website_id), 4) as share,
  min(last_known_crawl_time) as oldest_crawl_time
from page_state
where is_listed(status) and is_website(website_id, $website::varchar)
group by website_id, last_crawl
order by website_id, oldest_crawl_time desc nulls last
