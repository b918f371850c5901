-- Counts, for each commit, the pages whose newest report it holds. Views `candidates_url_reports`: the files in
-- question; `page_state`: the website's. A replayed report is in the file of its replay, so the rows themselves are
-- counted.
select reports.commit_id, count(*)::integer as pages
from candidates_url_reports as reports
join page_state on page_state.url = reports.url and page_state.report_snapshot_id = reports.snapshot_id
group by reports.commit_id
