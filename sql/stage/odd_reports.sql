-- Of the answers to planned reports only what is no plain report: failures, rejects, and reports that lack a field. As
-- with the listing, the journal is read once for all that is asked of these.
create or replace temp table odd_reports as
select * exclude (report)
from journal_reports
where kind <> 'fetched' or absent is not null
