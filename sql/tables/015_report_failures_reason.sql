-- Why the report was planned.
alter table report_failures add column reason varchar
