-- What the inspections of one run found, or was known of a page that was not inspected, and what changed since the one
-- before.
select
  asked.url,
  coalesce(lower(report.index_summary), if(report.url is null, null, 'no verdict'), lower(pages.index_summary), 'not inspected') as index_status,
  coalesce(report.index_coverage_state, pages.index_coverage_state, '–') as state,
  coalesce(
    day_of(coalesce(report.last_crawl_time, pages.last_crawl_time))::varchar,
    if(report.url is null and coalesce(pages.status, '') not in ('indexed', 'not_indexed'), 'unknown', 'never')
  ) as last_crawl,
  report.url is not null as is_inspected,
  (
    select string_agg(change_text(change, from_value, to_value), '; ' order by change)
    from page_changes
    where
      website_id = $website::varchar
      and page_changes.url = asked.url
      and snapshot_id = $snapshot::varchar
      and not is_noise(change, from_value)
  ) as changed
from (select unnest($urls::varchar[]) as url) as asked
left join (from url_reports where website_id = $website::varchar and snapshot_id = $snapshot::varchar) as report
  using (url)
left join (from page_state where website_id = $website::varchar) as pages using (url)
order by list_position($urls::varchar[], asked.url)
