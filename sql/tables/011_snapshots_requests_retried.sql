-- How many of the requests were sent again: after an error that may pass, or a 429.
alter table snapshots add column requests_retried integer
