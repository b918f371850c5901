-- Every replayed row was quarantined in the snapshot that it belongs to, and the replay's count equals the number of
-- its rows.
select
  replays.website_id,
  replays.snapshot_id,
  format(
    'replay {} took {} records, but {} of what is quarantined count as replayed',
    replays.replay_id, replays.coverage_replayed + replays.url_reports_replayed, coalesce(rows.rows, 0)
  ) as problem
from replays
left join (
  select commit_id, count(*) as rows
  from (
    select commit_id, snapshot_id, url, 'coverage' as source from coverage
    union all
    select commit_id, snapshot_id, url, 'url_report' from url_reports
  ) as replayed
  semi join (
    select
      source,
      snapshot_id,
      coalesce(url, case when json_valid(payload) then json_extract_string(payload, '$.url') end) as url
    from rejected_records
  ) as quarantined
    using (source, snapshot_id, url)
  where commit_id in (select replay_id from replays)
  group by commit_id
) as rows
  on rows.commit_id = replays.replay_id
where
  replays.snapshot_id in (select snapshot_id from snapshots)
  and replays.coverage_replayed + replays.url_reports_replayed <> coalesce(rows.rows, 0)
