-- The addresses that lead to a page, as inspections named them.
select distinct url, inspected_at, referring_url
from (
  select url, "at" as inspected_at, unnest(json_transform(extra -> 'referringUrls', '["VARCHAR"]')) as referring_url
  from journal_reports
  where kind = 'fetched'
)
where referring_url is not null
