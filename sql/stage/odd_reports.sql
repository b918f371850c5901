-- Of the answers to planned reports only what is no plain report: failures, rejects, and reports that lack a field, have
-- one more or a new value. As with the listing, the journal is read once for all that is asked of these.
create or replace temp table odd_reports as
select *
from journal_reports
where
  kind <> 'fetched'
  or absent is not null
  or extra is not null
  or not list_contains(getvariable('known_url_report'), 'index_summary=' || report.index_summary)
  or not list_contains(getvariable('known_url_report'), 'index_coverage_state=' || report.index_coverage_state)
  or not list_contains(getvariable('known_url_report'), 'indexing_allowed=' || report.indexing_allowed)
  or not list_contains(
    getvariable('known_url_report'),
    'searchenginebot_primary_crawler=' || report.searchenginebot_primary_crawler
  )
  or not list_contains(getvariable('known_url_report'), 'page_fetch_status=' || report.page_fetch_status)
  or not list_contains(getvariable('known_url_report'), 'blocked_by_robots_txt=' || report.blocked_by_robots_txt)
  or not list_contains(getvariable('known_url_report'), 'previously_indexed=' || report.previously_indexed)
  or not list_contains(getvariable('known_url_report'), 'canonical_changed=' || report.canonical_changed)
  or not list_contains(
    getvariable('known_url_report'),
    'ever_blocked_by_robots_txt=' || report.ever_blocked_by_robots_txt
  )
