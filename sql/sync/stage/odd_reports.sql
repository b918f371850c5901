-- The answers to planned reports that are not plain reports: failures, rejects, and reports that lack a field. As with
-- the listing, all queries about these share one reading of the journal.
create or replace temp table odd_reports as
select * exclude (report)
from journal_reports
where kind <> 'fetched' or absent is not null
