-- Noon in California on a night.
create or replace macro moment_of(night) as (getvariable('first_date')::date + night)::timestamp::timestamptz + interval 20 hours
