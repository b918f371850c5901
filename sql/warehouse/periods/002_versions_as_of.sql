-- What was known of each page at the end of a snapshot, its `as_of`: `cuts` is a list of these, structs with `website_id` and
-- `snapshot_id`.
create or replace macro versions_as_of(cuts) as table
select page_versions.*, as_of
from page_versions
join (
  select website_id, url, cut.snapshot_id as as_of, max(page_versions.snapshot_id) as snapshot_id
  from page_versions
  join (select unnest(cuts, recursive := true)) as cut using (website_id)
  where page_versions.snapshot_id <= cut.snapshot_id
  group by website_id, url, as_of
) as newest using (website_id, url, snapshot_id)
