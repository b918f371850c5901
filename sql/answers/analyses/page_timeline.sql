-- title: Page timeline
-- description: Everything known about one page, in time order. An `event` is `listed`, `absent` (from a complete listing), `quarantined`, `report`, `report_missing`, `report_failed`, or `change`; `change` says what changed. For listings and reports that retention removed, only the changes are shown.
-- question: What changed?
-- param url (text, required): the page's whole URL, as it is listed
-- param website (text, default all): id or name of one website, where several monitor the page
-- grain: one row per event of the page
-- show website_id (website): website
-- show happened_at (time): time
-- show event (text): event
-- show change (text): change
-- show from_value (text): before
-- show to_value (text): after
-- show index_coverage_state (text): state
-- show detail (text): detail
with known as (
  select website_id, url, first_seen_at, disappeared_at
  from page_state
  where
    url = $url::varchar
    and is_website(website_id, $website::varchar)
),
quarantined as (
  select rejected_records.*
  from rejected_records
  semi join known using (website_id, url)
),
listed as (
  select coverage.*
  from coverage
  semi join known using (website_id, url)
),
-- Absences after the listing that confirmed the page as gone are not events.
lacking as (
  select snapshots.*
  from snapshots
  join known using (website_id)
  where
    snapshots.listing_status = 'complete'
    -- Retention has removed the rows of these listings.
    and snapshots.snapshot_id not in (select commit_id from tombstones where table_name = 'coverage')
    and snapshots.snapshot_at > known.first_seen_at
    and (known.disappeared_at is null or snapshots.snapshot_at <= known.disappeared_at)
    and snapshots.snapshot_id not in (select snapshot_id from listed)
    and snapshots.snapshot_id not in (select snapshot_id from quarantined where source = 'coverage')
),
-- indexhouse.duckdb drops rows by date, so none are missing from the date of the oldest row on. Rows of a replay
-- are never dropped.
unsure as (
  select snapshot_id
  from lacking
  where
    json_exists(files, '$.coverage')
    and snapshot_date < coalesce(
      (select min(snapshot_date) from listed where commit_id = snapshot_id),
      'infinity'::date
    )
),
present as (
  select distinct commit_id
  from coverage
  where commit_id in (select snapshot_id from unsure)
),
absent as (
  select *
  from lacking
  where
    snapshot_id not in (select snapshot_id from unsure)
    or snapshot_id in (select commit_id from present)
),
events as (
  select
    listed_at as happened_at,
    website_id,
    snapshot_id,
    'listed' as event,
    index_summary,
    index_coverage_state,
    searchengine_selected_canonical,
    user_selected_canonical,
    last_crawl_time
  from listed
  union all by name
  select snapshot_at as happened_at, website_id, snapshot_id, 'absent' as event
  from absent
  union all by name
  select received_at as happened_at, website_id, snapshot_id, 'quarantined' as event, source as detail
  from quarantined
  union all by name
  select
    fetched_at as happened_at,
    website_id,
    snapshot_id,
    'report' as event,
    page_fetch_status as detail,
    index_summary,
    index_coverage_state,
    searchengine_selected_canonical,
    user_selected_canonical,
    last_crawl_time
  from url_reports
  semi join known using (website_id, url)
  union all by name
  select attempted_at as happened_at, website_id, snapshot_id, 'report_' || outcome as event, message as detail
  from report_failures
  semi join known using (website_id, url)
  union all by name
  select observed_at as happened_at, website_id, snapshot_id, 'change' as event, change, from_value, to_value
  from page_changes
  semi join known using (website_id, url)
)
select
  happened_at,
  website_id,
  event,
  change,
  from_value,
  to_value,
  index_summary,
  index_coverage_state,
  searchengine_selected_canonical,
  user_selected_canonical,
  last_crawl_time,
  detail,
  snapshot_id
from events
order by
  happened_at,
  website_id,
  list_position(
    ['listed', 'absent', 'quarantined', 'report', 'report_missing', 'report_failed', 'change'],
    event
  ),
  change
