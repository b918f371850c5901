-- When an inspection last found a page of Search Console indexed, up to a time; null for a website of the API.
create or replace macro last_seen_indexed(website, page, up_to) as (
  select max(fetched_at)
  from url_reports
  where
    website_id = website
    and is_property(website_id)
    and url = page
    and index_summary = 'Indexed'
    and fetched_at <= up_to
)
