-- Quarantine: every rejected record, and whether a replay has committed it since.
create or replace view quarantine as
select
  -- Added later, so it comes last.
  rejected_records.* exclude (reason),
  taken.url is not null as replayed,
  rejected_records.reason
from rejected_records
left join (
  select 'coverage' as source, snapshot_id, url
  from coverage
  where commit_id in (select replay_id from replays)
  union
  select 'url_report', snapshot_id, url
  from url_reports
  where commit_id in (select replay_id from replays)
) as taken
  on taken.source = rejected_records.source
  and taken.snapshot_id = rejected_records.snapshot_id
  -- The URL of an entry that could not be read at first may be known now.
  and taken.url = coalesce(
    rejected_records.url,
    case when json_valid(rejected_records.payload) then json_extract_string(rejected_records.payload, '$.url') end
  )
