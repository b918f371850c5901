-- Reports that were due; those beyond `reports_planned` were left for the next run. Null if only the listing was
-- requested.
alter table snapshots add column reports_wanted integer
