-- When a calendar date ends in a time zone, in milliseconds since 1970.
select epoch_ms((($date::date + 1)::timestamp) at time zone $time_zone::varchar) as ends_at
