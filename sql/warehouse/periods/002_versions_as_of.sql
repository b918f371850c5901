-- What was known of each page at the end of a snapshot, its `as_of`: `cuts` is a list of these, structs with `website_id` and
-- `snapshot_id`. Cuts and the snapshots up to each have numbers, which are faster to group and to join than their ids.
create or replace macro versions_as_of(cuts) as table
with numbered as not materialized (
  select
    website_id,
    snapshots.snapshot_id,
    cut.snapshot_id as as_of,
    dense_rank() over (order by cut.snapshot_id) as place,
    row_number() over (order by cut.snapshot_id, snapshots.snapshot_id) as number
  from snapshots
  join (select unnest(cuts, recursive := true)) as cut using (website_id)
  where snapshots.snapshot_id <= cut.snapshot_id
)
select page_versions.*, as_of
from page_versions
join numbered using (website_id, snapshot_id)
join (
  select url, max(number) as number
  from page_versions
  join numbered using (website_id, snapshot_id)
  group by place, url
) as newest using (url, number)
