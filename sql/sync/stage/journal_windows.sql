-- The accepted windows of the kept walk. A later window replaces everything from its `keep` position on, so an entry of
-- this one counts only while its position is below the least `keep` that follows.
create or replace temp table journal_windows as
select
  "window",
  "at" as listed_at,
  drift,
  coalesce(
    min(keep) over (order by "window" rows between 1 following and unbounded following),
    2147483647
  ) as kept_below
from walk_lines
where kind = 'window'
