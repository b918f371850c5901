-- The pages of `index_moves` that fell out of the index, with their states and what was known when they fell: canonicals, and
-- what the first report since then says, or else the last one before. `moved_to`: the URL that took the page's place, if one
-- entered the index at most 30 days before or after the fall that is the canonical of the page, its URL but for `http` or
-- `https`, `www.` or a slash at the end, or its name in another directory to which at least five pages moved.
create or replace macro falls(since_date, until_date) as table
with fell as materialized (
  select website_id, url, before_id, listing_id, move, falls, made.*
  from period_moves(since_date, until_date)
  where move in ('fell_out', 'returned')
),
known as materialized (
  select
    website_id,
    url,
    arg_min({status: version.was_status, state: was_index_coverage_state}, version.snapshot_id) as start,
    arg_max({status: version.status, state: index_coverage_state}, version.snapshot_id) as ending,
    arg_min(
      {searchengine: searchengine_selected_canonical, "user": user_selected_canonical}, version.snapshot_id
    ) filter (version.snapshot_id >= fell.snapshot_id) as canonicals,
    arg_min(
      {
        fetched_at: report_fetched_at,
        fetch_status: report_page_fetch_status,
        blocked: report_blocked_by_robots_txt,
        allowed: report_indexing_allowed
      },
      {is_older: coalesce(report_fetched_at < fell.observed_at, true), snapshot_id: version.snapshot_id}
    ) filter (version.snapshot_id >= fell.snapshot_id) as report,
    any_value(fell.snapshot_date) as fell_on
  from page_versions as version
  join fell using (website_id, url)
  where version.snapshot_id > fell.before_id and version.snapshot_id <= fell.listing_id
  group by website_id, url
),
-- A page that was listed from the start did not enter when it was first seen, nor when it was first inspected.
entered as materialized (
  select distinct website_id, url, snapshot_date as entered_on, spelling_key(url) as spelling
  from page_versions
  join (
    select website_id, min(snapshot_id) as first_id, min(finished_at) as first_at
    from snapshots
    where listing_status = 'complete'
    group by website_id
  ) using (website_id)
  where
    snapshot_id > first_id
    and status = 'indexed'
    and was_status is distinct from 'indexed'
    and snapshot_date between since_date::date - 30 and until_date::date + 30
    and (
      was_status is distinct from 'not_inspected'
      or (website_id, url) in (select (website_id, url) from page_state where first_seen_at > first_at)
    )
),
-- A name that many pages have, such as `index.html`, identifies none, nor does a short number: many lists have a page 2.
named as materialized (
  from (
    select
      *,
      split_part(spelling, '/', 1) as host,
      regexp_extract(spelling, '/([^/]+)$', 1) as "name",
      left(spelling, length(spelling) - length("name")) as directory
    from (
      select website_id, url, entered_on as on_date, spelling, true as has_entered from entered
      union all
      select website_id, url, fell_on, spelling_key(url), false from known
    )
  )
  where regexp_matches("name", '^[^?.]*(\pL|[0-9]{6})')
  qualify count(*) over (partition by website_id, host, "name", has_entered) <= 20
),
twins as (
  select known.website_id, known.url, known.fell_on, entered.url as twin, entered_on, 1 as rank
  from known
  join entered on entered.website_id = known.website_id and entered.url = known.canonicals.searchengine
  union all
  select known.website_id, known.url, known.fell_on, entered.url, entered_on, 2
  from known
  join entered on entered.website_id = known.website_id and entered.spelling = spelling_key(known.url)
  union all
  (
    select gone.website_id, gone.url, gone.on_date, come.url, come.on_date, 3
    from named as gone
    join named as come using (website_id, host, "name")
    where
      not gone.has_entered
      and come.has_entered
      and gone.directory <> come.directory
      and abs(gone.on_date - come.on_date) <= 30
    qualify count(distinct gone.url) over (partition by gone.website_id, gone.directory, come.directory) >= 5
  )
),
moved as (
  select website_id, url, arg_min(twin, {rank: rank, twin: twin}) as moved_to
  from twins
  where twin <> url and abs(fell_on - entered_on) <= 30
  group by website_id, url
)
select
  fell.website_id,
  fell.url,
  before_id,
  move,
  falls,
  snapshot_date,
  observed_at,
  state_text(start.status, start.state) as from_state,
  fell.state as to_state,
  state_text(ending.status, ending.state) as end_state,
  canonicals.searchengine as searchengine_selected_canonical,
  canonicals."user" as user_selected_canonical,
  report.fetched_at as report_fetched_at,
  report.fetch_status as report_page_fetch_status,
  report.blocked as report_blocked_by_robots_txt,
  report.allowed as report_indexing_allowed,
  moved_to
from fell
join known using (website_id, url)
left join moved using (website_id, url)
