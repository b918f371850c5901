-- The date of a time in the time zone of the warehouse, whatever the session's is.
create or replace macro day_of(moment) as (moment at time zone warehouse_time_zone())::date
