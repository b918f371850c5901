-- title: Referring URLs that changed
-- description: With Search Console, the pages whose referring URLs differ between two inspections, newest first: the later one no longer names `lost`, and newly names `gained`; `referring` counts all that it names. The change happened between `previous_inspected_at` and `inspected_at`. Google names only some of the pages that link to a page, so a lost one may still link to it. A first inspection is no change.
-- question: What changed?
-- param since (date, default 6 days ago): first date of the later inspection; by default the last seven dates are covered
-- param until (date, default today): last date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page and inspection
-- show snapshot_date (date): date
-- show url (url): page
-- show referring (count): referring URLs
-- show lost (url): lost
-- show gained (url): gained
with inspected as (
  -- Each page with an inspection in the period, and its last one before.
  select website_id, url, max(snapshot_id) filter (snapshot_date < $since::date) as first_id
  from url_reports
  semi join referring_urls using (website_id, url)
  where snapshot_date <= $until::date and is_website(website_id, $website::varchar)
  group by website_id, url
  having max(snapshot_date) >= $since::date
),
inspections as (
  select
    website_id,
    url,
    snapshot_id,
    any_value(url_reports.snapshot_date) as snapshot_date,
    any_value(url_reports.fetched_at) as inspected_at,
    coalesce(list(referring_url order by referring_url) filter (referring_url is not null), []) as named
  from url_reports
  join inspected using (website_id, url)
  left join referring_urls using (website_id, url, snapshot_id)
  where
    snapshot_id >= coalesce(first_id, '')
    and url_reports.snapshot_date <= $until::date
    -- If retention removed the referring URLs of an inspection, they are unknown, not empty.
    and snapshot_id not in (select snapshot_id from tombstones where table_name = 'referring_urls')
  group by website_id, url, snapshot_id
),
pairs as (
  select *, lag(named) over earlier as previously, lag(inspected_at) over earlier as previous_inspected_at
  from inspections
  window earlier as (partition by website_id, url order by snapshot_id)
)
select
  pairs.website_id,
  pairs.url,
  previous_inspected_at,
  inspected_at,
  snapshot_date,
  len(named)::integer as referring,
  [one for one in previously if not list_contains(named, one)] as lost,
  [one for one in named if not list_contains(previously, one)] as gained,
  pages.index_summary as index_summary_now
from pairs
left join page_state as pages on pages.website_id = pairs.website_id and pages.url = pairs.url
where
  previous_inspected_at is not null
  and named <> previously
  and is_selected(pairs.url, state_or_status(pages.status, pages.index_coverage_state), $directory::varchar, $url_contains::varchar, $state::varchar)
order by inspected_at desc, pairs.website_id, pairs.url
limit $limit::bigint
