-- What is known of pages that were inspected just now, and what changed since they were inspected before. View `pages`:
-- one row per page; `page_changes`: one row per change.
select
  url,
  coalesce(lower(index_summary), 'not inspected') as index_status,
  coalesce(index_coverage_state, '–') as state,
  coalesce(last_crawl_time::date::varchar, 'never') as last_crawl,
  report_snapshot_id = $snapshot::varchar as is_inspected,
  (
    select string_agg(change_text(change, from_value, to_value), '; ' order by change)
    from page_changes
    where
      page_changes.website_id = pages.website_id
      and page_changes.url = pages.url
      and snapshot_id = $snapshot::varchar
      and not is_noise(change, from_value)
  ) as changed
from pages
where website_id = $website::varchar and url in (select unnest($urls::varchar[]))
order by list_position($urls::varchar[], url)
