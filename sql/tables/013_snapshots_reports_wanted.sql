-- Reports that were worth fetching; those beyond `reports_planned` were left for the next run. Null where only the
-- listing was asked for.
alter table snapshots add column reports_wanted integer
