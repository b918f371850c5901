-- Requests that were answered ÷ those that `api.requests_per_minute` allowed in that time, from 0 to 1, as seen by the
-- process that committed. Null if the pace is unlimited or nothing was requested.
alter table snapshots add column utilisation double
