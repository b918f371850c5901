-- What changed about a page since its last known listing or report.
create or replace view page_changes as
select
  snapshot_id,
  website_id,
  snapshot_at,
  snapshot_date,
  url,
  change,
  details.from_value,
  details.to_value,
  details.from_snapshot_id,
  snapshot_id as to_snapshot_id,
  details.observed_at,
  is_uncrawled(status, was_status, changes) as is_uncrawled
from (select *, unnest(changes) as change, unnest(change_details) as details from page_versions)
