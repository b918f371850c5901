-- Counts, for each commit, the monitored pages whose last listing it holds. A page missing from later listings, because
-- one was partial or the page was absent once, still has its last listing in an older commit. For a page that is gone,
-- `page_state` and `page_changes` keep what it was listed as. Views `candidates`: the files in question;
-- `page_state`: the website's.
select listed.snapshot_id, count(*)::integer as pages
from candidates as listed
join page_state on page_state.url = listed.url and page_state.listed_snapshot_id = listed.snapshot_id
where page_state.disappeared_at is null
group by listed.snapshot_id
