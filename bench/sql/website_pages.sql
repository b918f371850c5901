-- The pages of the website and what stays the same about each: 3 % appear while it is watched, 2 % disappear. Each is
-- crawled every 4 to 20 nights, a tenth of them in a night, and may be in another state every 10 to 70 nights, 2 % in a
-- night; its report is fetched then, and every so many nights.
create or replace temp table website_pages as
select
  range as page,
  page_url(range) as url,
  if(hash(range, 10) % 100 < 3, (hash(range, 11) % getvariable('nights')::ubigint)::integer, 0) as born,
  if(hash(range, 12) % 100 < 2, born + (hash(range, 13) % getvariable('nights')::ubigint)::integer, 1000000) as dies,
  4 + (hash(range, 14) % 17)::integer as crawl_every,
  (hash(range, 15) % 1000)::integer as crawl_phase,
  10 + (hash(range, 16) % 61)::integer as change_every,
  (hash(range, 17) % 1000)::integer as change_phase,
  (hash(range, 18) % 1000)::integer as report_phase,
  hash(range, 19) % 10 < 8 as declares_canonical,
  if(hash(range, 20) % 12 = 0, 'DESKTOP', 'MOBILE') as crawler,
  'https://search.example/inspect?resource_id=sc-domain%3Aexample.com&page=' || range || '&event=' as inspection_link,
  'https://app.example/websites/645f2e5cd8cd9b7bd8b55ab1/pages/' || range as service_link,
  make_timestamptz(1704067200000000 + 1000 * (hash(range, 22) % 31536000000)::bigint) as detected_at,
  page_url((hash(range, 21) % greatest(range, 1)::ubigint)::bigint) as other_url
from range(getvariable('pages')::bigint)
