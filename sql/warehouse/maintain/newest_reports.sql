-- Counts, for each commit, the rows about pages whose newest report it holds. Views `candidates`: the files in question;
-- `page_state`: the website's.
select reports.snapshot_id, count(*)::integer as pages
from candidates as reports
join page_state on page_state.url = reports.url and page_state.report_snapshot_id = reports.snapshot_id
group by reports.snapshot_id
