-- A time as the interface writes it: ISO 8601 in UTC with milliseconds; with microseconds where it has them.
create or replace macro iso_time(moment) as
  if(
    microsecond(moment) % 1000 = 0,
    strftime(moment at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ'),
    strftime(moment at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')
  )
