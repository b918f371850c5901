-- The newest report of each page, and its state.
insert into page_state by name
select
  website_id,
  url,
  getvariable('first_date')::timestamptz + to_days(listed_from) as first_seen_at,
  getvariable('first_date')::timestamptz + to_days(reports[-1]) + interval 3 hour as report_fetched_at,
  getvariable('first_date')::timestamptz + to_days(born) as report_page_detection,
  sitemaps[-1] as report_sitemaps,
  if(states[-1] = 'Submitted and indexed', 'indexed', 'not_indexed') as status,
  states[-1] as index_coverage_state
from joined_pages
