-- Requests that were answered ÷ those that `api.requests_per_minute` allowed in that time, from 0 to 1; of the process
-- that committed. Null where the pace is unlimited, or where nothing was asked for.
alter table snapshots add column utilisation double
