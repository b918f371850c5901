-- The newest report of each page.
insert into page_state by name
select
  website_id,
  url,
  getvariable('first_date')::timestamptz + to_days(listed_from) as first_seen_at,
  getvariable('first_date')::timestamptz + to_days(reports[-1]) + interval 3 hour as report_fetched_at,
  getvariable('first_date')::timestamptz + to_days(born) as report_page_detection,
  sitemaps[-1] as report_sitemaps
from joined_pages
