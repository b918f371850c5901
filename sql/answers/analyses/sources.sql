-- title: Where the pages come from
-- description: What names the pages of a property of Search Console, and how reading it went: sitemaps, robots.txt, Search Console's list of sitemaps, and search analytics. `only_here` counts pages that nothing else names, `pages_unnamed` those of `pages_before` that nothing names any more; they stay listed for 90 days. `problem` is why pages may be missing, or else what is wrong and harms nothing. `last_downloaded`, `errors`, `warnings` and `is_pending` are what Google says about a sitemap that was submitted.
-- question: The service and the data
-- param source (text, default all): address of one source
-- param since (date, default none): first date; by default only the newest snapshot of each website
-- param limit (integer, default none): at most this many rows
-- grain: one row per website, snapshot date and source
-- show snapshot_date (date): date
-- show source (text): source
-- show kind (text): kind
-- show http_status (number): answered
-- show entries (count): entries
-- show pages (count): pages
-- show only_here (count): only here
-- show pages_unnamed (count): unnamed
-- show problem (text): problem
select
  website_id,
  snapshot_date,
  source,
  kind,
  named_by,
  http_status,
  entries,
  pages,
  only_here,
  pages_before,
  pages_unnamed,
  nullif(concat_ws('; ', coalesce(error, remark), unread), '') as problem,
  error is not null as is_missing_pages,
  last_downloaded,
  errors,
  warnings,
  is_pending
from listing_sources
left join (
  select snapshot_id, 'search_analytics' as kind, 'days of the history not read yet: ' || search_days_left as unread
  from snapshots
  where search_days_left > 0
) using (snapshot_id, kind)
where
  is_website(website_id, $website::varchar)
  and ($source::varchar is null or source = $source::varchar)
  and if(
    $since::date is null,
    snapshot_id in (select max(snapshot_id) from snapshots group by website_id),
    snapshot_date >= $since::date
  )
order by website_id, snapshot_id desc, error is null, remark is null, pages desc, source
limit $limit::bigint
