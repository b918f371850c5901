-- title: Rich results that changed
-- description: With Search Console, the pages whose rich results got worse between two inspections, newest first: with `lost`, the page no longer has the type; with `error`, the type has a new error. `improved=true` lists the reverse, `found` and `repaired`. The change happened between `previous_inspected_at` and `inspected_at`. A page that is not in the index keeps its last rich results, unless its inspection returns some. A first inspection is no change. The table `rich_results` also has warnings.
-- question: What changed?
-- param since (date, default 6 days ago): first date of the later inspection; by default the last seven dates are covered
-- param until (date, default today): last date
-- param improved (boolean, default false): found types and repaired errors, instead
-- param rich_result_type (text, default all): one type, such as Product snippets
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page, inspection, type and change
-- show snapshot_date (date): date
-- show url (url): page
-- show rich_result_type (text): rich result
-- show change (text): change
-- show issue (text): issue
with inspected as (
  -- Each page with an inspection in the period, and its last one before.
  select website_id, url, max(snapshot_id) filter (snapshot_date < $since::date) as first_id
  from rich_results
  where snapshot_date <= $until::date and is_website(website_id, $website::varchar)
  group by website_id, url
  having max(snapshot_date) >= $since::date
),
inspections as (
  select
    website_id,
    url,
    snapshot_id,
    any_value(snapshot_date) as snapshot_date,
    any_value(inspected_at) as inspected_at,
    coalesce(list(distinct rich_result_type) filter (rich_result_type is not null), []) as types,
    coalesce(
      list(distinct {type: rich_result_type, issue: coalesce(issue, '')}) filter (severity = 'ERROR'), []
    ) as errors
  from rich_results
  join inspected using (website_id, url)
  where snapshot_id >= coalesce(first_id, '') and snapshot_date <= $until::date
  group by website_id, url, snapshot_id
),
pairs as (
  -- An improvement is a loss read backwards: from the later inspection to the earlier one.
  select
    *,
    lag(inspected_at) over earlier as previous_inspected_at,
    lag({types: types, errors: errors}) over earlier as previous,
    if($improved::boolean, {types: types, errors: errors}, previous) as better,
    if($improved::boolean, previous, {types: types, errors: errors}) as worse
  from inspections
  window earlier as (partition by website_id, url order by snapshot_id)
),
changes as (
  select
    * exclude (better, worse),
    unnest(
      [
        {change: if($improved, 'found', 'lost'), type: one, issue: null::varchar}
        for one in better.types if not list_contains(worse.types, one)
      ]
      || [
        {change: if($improved, 'repaired', 'error'), type: one.type, issue: one.issue}
        for one in worse.errors if list_contains(types, one.type) and not list_contains(better.errors, one)
      ]
    ) as made
  from pairs
  where previous_inspected_at is not null
)
select
  changes.website_id,
  changes.url,
  changes.made.type as rich_result_type,
  changes.made.change as change,
  nullif(changes.made.issue, '') as issue,
  changes.previous_inspected_at,
  changes.inspected_at,
  changes.snapshot_date,
  pages.index_summary as index_summary_now
from changes
left join page_state as pages on pages.website_id = changes.website_id and pages.url = changes.url
where
  coalesce(changes.made.type = $rich_result_type::varchar, $rich_result_type::varchar is null)
  and is_selected(changes.url, state_or_status(pages.status, pages.index_coverage_state), $directory::varchar, $url_contains::varchar, $state::varchar)
order by changes.inspected_at desc, changes.website_id, changes.url, rich_result_type, change, issue
limit $limit::bigint
