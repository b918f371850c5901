-- Why the report was planned; null for an entry of the listing.
alter table rejected_records add column reason varchar
