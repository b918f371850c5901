-- The pages of `inspections_due` in the order of their reasons and in that of the rotation. Pages that were never
-- inspected come before second looks, except at what was modified. The rotation takes the oldest inspection, and orders
-- equal ones by a hash, so that it is a random sample.
create or replace temp table ranked_inspections as
select
  url,
  scopes_of(url, getvariable('scopes')::varchar[]) as path,
  reason,
  spelling,
  if(
    reason = 'oldest',
    null,
    row_number() over (
      order by
        reason = 'oldest',
        keeps_failing,
        goes_first(url) desc,
        reason = 'modified' or report_fetched_at is null desc,
        list_position(getvariable('reasons'), reason),
        impressions_lost desc nulls last,
        report_fetched_at nulls first,
        md5(url)
    )
  ) as reason_rank,
  row_number() over (order by keeps_failing, report_fetched_at nulls first, md5(url)) as turn_rank
from inspections_due
