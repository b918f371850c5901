-- Whether a change says nothing new about the page: another crawl, what other changes already say, or what its first
-- report or inspection brought.
create or replace macro is_noise(change, from_value) as
  change in ('crawled', 'canonicals_match', 'first_data')
  or (from_value is null and change in ('crawler', 'fetch_status', 'indexing_allowed', 'sitemaps'))
