-- Whether a snapshot's listing can be counted from `snapshot_summary`: not if it has no summary and retention has removed
-- its rows, because it would look like a listing without pages.
create or replace macro is_counted(snapshot, files) as
  json_exists(files, '$.coverage_summary')
  or snapshot not in (select commit_id from tombstones where table_name = 'coverage')
