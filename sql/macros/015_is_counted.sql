-- Whether a snapshot's listing is counted in `snapshot_summary`: an older one without a summary, whose rows retention put
-- out of use, is not a listing of no page.
create or replace macro is_counted(snapshot, files) as
  json_exists(files, '$.coverage_summary')
  or snapshot not in (select commit_id from tombstones where table_name = 'coverage')
