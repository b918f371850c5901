-- Counts, for each commit, the rows of days that may still change and were not fetched again since. Views `candidates`:
-- the files of `search_fresh` in question; `search_fetches`: of the website.
select fresh.snapshot_id, count(*)::integer as pages
from candidates as fresh
anti join search_fetches as later
  on later."date" = fresh."date" and later."type" = fresh."type" and later.snapshot_id > fresh.snapshot_id
group by fresh.snapshot_id
