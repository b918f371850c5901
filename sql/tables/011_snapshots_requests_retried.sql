-- Requests that were retried, after a temporary error or a 429.
alter table snapshots add column requests_retried integer
