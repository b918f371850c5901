-- A date in a readable form: Nov 18, 2026. Of a time: `spelled_date(day_of(time))`.
create or replace macro spelled_date(day) as strftime(day, '%b %-d, %Y')
