-- Each page as this commit lists it, beside its own last known listing. A page that came, or came back, in a quarantined
-- entry appears with the first readable entry after it.
-- `unlisted_since` is the night of the complete listing that lacked the page.
create or replace temp view compared as
select
  *,
  listed and (is_new or was_unlisted_since is not null) as appeared,
  listed and was_listed_snapshot_id is not null and (
    index_summary is distinct from was_index_summary
    or index_coverage_state is distinct from was_index_coverage_state
    or canonicals_match is distinct from was_canonicals_match
    or searchengine_selected_canonical is distinct from was_searchengine_selected_canonical
    or user_selected_canonical is distinct from was_user_selected_canonical
  ) as changed,
  listed and was_listed_snapshot_id is not null
    and last_crawl_time is not null
    and last_crawl_time is distinct from was_last_crawl_time
    -- What Google knew at the inspection before, it may say only now.
    and (not getvariable('by_inspection') or last_crawl_time > coalesce(was_report_fetched_at, '-infinity')) as recrawled,
  listed and last_named_at < listed_at and getvariable('listing_complete') as unnamed
from (
  select
    coalesce(was_url, now.url) as url,
    coalesce(now.listed, false) as listed,
    now.url is not null as present,
    was_url is not null as known,
    was_url is null and getvariable('had_complete') as is_new,
    coalesce(now.listed_at, now.quarantined_at) as seen_at,
    now.* exclude (url, listed, quarantined_at),
    was.* replace (
      coalesce(was_absences, 0) as was_absences,
      coalesce(was_consecutive_failures, 0) as was_consecutive_failures
    )
  from (select columns(*) as 'was_\0' from ranged_state) as was
  full join (
    select
      coalesce(entry.url, quarantined.url) as url,
      entry.url is not null as listed,
      entry.* exclude (url),
      quarantined.received_at as quarantined_at
    from ranged_coverage as entry
    full join (
      select url, max(received_at) as received_at
      from ranged_rejected_records
      where source = 'coverage' and url is not null
      group by url
    ) as quarantined on quarantined.url = entry.url
  ) as now on now.url = was_url
)
