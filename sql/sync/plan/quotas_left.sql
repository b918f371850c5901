-- What is left of the day of each property, by its scope, and what day it is there.
create or replace temp table quotas_left as
select unnest(getvariable('quotas')::json::struct("scope" varchar, "left" bigint, per_day bigint)[], recursive := true)
