-- How many of `reports_planned` were planned for which reason: an object, without the reasons that no report had.
alter table snapshots add column reports_by_reason json
