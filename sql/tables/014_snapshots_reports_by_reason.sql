-- `reports_planned` by reason: an object with the reasons that occurred.
alter table snapshots add column reports_by_reason json
