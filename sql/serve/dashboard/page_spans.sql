-- What was known of a page, in spans of dates up to the newest snapshot, oldest first.
with dated as (
  select snapshot_date as since, arg_max(status, snapshot_id) as status
  from page_versions
  where website_id = $website::varchar and url = $url::varchar
  group by snapshot_date
),
begun as (
  from dated qualify status is distinct from lag(status) over (order by since)
)
select
  since::varchar as since,
  coalesce(
    lead(since) over (order by since) - 1,
    (select max(snapshot_date) from snapshots where website_id = $website::varchar)
  )::date::varchar as until,
  status
from begun
order by since
