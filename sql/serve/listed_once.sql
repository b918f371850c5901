-- The same where one commit makes the listing and nothing of it is in quarantine, as on most nights: it holds each
-- page once, as it is.
create or replace temp view served_listing as
select * from served_coverage
