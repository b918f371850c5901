-- Quarantine: every rejected record, and whether a replay has committed it since.
create or replace view quarantine as
with taken as (
  select 'coverage' as source, snapshot_id, url
  from coverage
  where commit_id in (select replay_id from replays)
  union distinct
  select 'url_report', snapshot_id, url
  from url_reports
  where commit_id in (select replay_id from replays)
)
select
  *,
  (
    (source, snapshot_id, coalesce(url, nullif(JSONExtractString(coalesce(payload, ''), 'url'), '')))
    in (select source, snapshot_id, url from taken)
  )::Bool as replayed
from rejected_records
