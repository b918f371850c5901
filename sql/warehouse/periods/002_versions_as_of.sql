-- What was known of each page at the end of a snapshot, its `as_of`: `cuts` is a list of these, structs with `website_id` and
-- `snapshot_id`. Cuts and the snapshots up to each have numbers, which are faster to group than their ids.
-- Not materialized, here and in other macros: below such an expression all columns are read, whatever the caller selects.
create or replace macro versions_as_of(cuts) as table
with numbered as not materialized (
  select
    snapshots.snapshot_id,
    cut.snapshot_id as as_of,
    row_number() over (order by as_of, snapshots.snapshot_id) as number,
    dense_rank() over (order by as_of) as place
  from (select unnest(cuts, recursive := true)) as cut
  join snapshots on snapshots.website_id = cut.website_id and snapshots.snapshot_id <= cut.snapshot_id
)
select * exclude (number)
from (select page_versions.*, as_of, number from page_versions join numbered using (snapshot_id))
-- The order of other joins is not ours: by URL first, every version of a page is joined to the last one.
semi join (
  select url, max(number) as number
  from page_versions
  join numbered using (snapshot_id)
  group by place, url
  having max(number) > 0
) using (url, number)
