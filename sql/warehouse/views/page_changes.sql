-- What changed about a page since its last known listing or report.
create or replace view page_changes as
select
  snapshot_id,
  website_id,
  snapshot_at,
  snapshot_date,
  url,
  made.change,
  made.from_value,
  made.to_value,
  made.from_snapshot_id,
  snapshot_id as to_snapshot_id,
  made.observed_at,
  is_uncrawled(status, was_status, changes) as is_uncrawled
from (select *, unnest(changes) as made from page_versions)
