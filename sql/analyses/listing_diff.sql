-- title: Difference between two dates
-- description: What is different about each page between the last complete listing up to one date and that up to another: `new`, `gone` or `changed`. A page that is quarantined in one of the two is neither new nor gone. If retention removed the rows of a listing, the one before it is used; if none is left, nothing is compared.
-- question: What changed?
-- param website (text, default all): id or name of one website
-- param since (date, default 7 days ago): the earlier listing: the last complete one up to this date; by default the one before the last seven dates
-- param until (date, default today): the later listing: the last complete one up to this date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state in the later listing, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page that differs
-- show website_id (website): website
-- show difference (text): difference
-- show url (url): page
-- show index_coverage_state_then (text): state then
-- show index_coverage_state_now (text): state now
-- show searchengine_selected_canonical_then (url): search engine chose then
-- show searchengine_selected_canonical_now (url): search engine chose now
-- show user_selected_canonical_then (url): page declared then
-- show user_selected_canonical_now (url): page declares now
with chosen as (
  select
    website_id,
    arg_max(snapshot_id, snapshot_at) filter (snapshot_date <= $since::date) as then_id,
    arg_max(snapshot_id, snapshot_at) filter (snapshot_date <= $until::date) as now_id
  from snapshots
  where
    listing_status = 'complete'
    -- Retention has removed the rows of these listings.
    and snapshot_id not in (select commit_id from tombstones where table_name = 'coverage')
    and is_website(website_id, $website::varchar)
  group by website_id
  having then_id <> now_id
),
present as (
  select distinct commit_id
  from coverage
  where commit_id in (select unnest([then_id, now_id]) from chosen)
),
-- indexhouse.duckdb drops rows by date: when it drops a listing, it drops all earlier ones too.
dropped as (
  select snapshot_id
  from snapshots
  where
    snapshot_id in (select unnest([then_id, now_id]) from chosen)
    and json_exists(files, '$.coverage')
    and snapshot_id not in (select commit_id from present)
),
listings as (
  select *
  from chosen
  where
    then_id not in (select snapshot_id from dropped)
    and now_id not in (select snapshot_id from dropped)
),
earlier as (
  select * from coverage where snapshot_id in (select then_id from listings)
),
later as (
  select * from coverage where snapshot_id in (select now_id from listings)
),
quarantined as (
  select distinct website_id, url
  from rejected_records
  where
    source = 'coverage'
    and url is not null
    and snapshot_id in (select unnest([then_id, now_id]) from listings)
)
select
  website_id,
  url,
  case when earlier.url is null then 'new' when later.url is null then 'gone' else 'changed' end as difference,
  earlier.index_summary as index_summary_then,
  later.index_summary as index_summary_now,
  earlier.index_coverage_state as index_coverage_state_then,
  later.index_coverage_state as index_coverage_state_now,
  earlier.searchengine_selected_canonical as searchengine_selected_canonical_then,
  later.searchengine_selected_canonical as searchengine_selected_canonical_now,
  earlier.user_selected_canonical as user_selected_canonical_then,
  later.user_selected_canonical as user_selected_canonical_now
from earlier
full join later using (website_id, url)
left join quarantined using (website_id, url)
where
  if(earlier.url is null or later.url is null, quarantined.url is null, (
    earlier.index_summary is distinct from later.index_summary
    or earlier.index_coverage_state is distinct from later.index_coverage_state
    or earlier.searchengine_selected_canonical is distinct from later.searchengine_selected_canonical
    or earlier.user_selected_canonical is distinct from later.user_selected_canonical
  ))
  and is_selected(
    url,
    if(later.url is null, earlier.index_coverage_state, later.index_coverage_state),
    $directory::varchar,
    $url_contains::varchar,
    $state::varchar
  )
order by website_id, difference, url
limit $limit::bigint
