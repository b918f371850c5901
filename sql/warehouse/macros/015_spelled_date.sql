-- A date or time in a readable form: Nov 18, 2026.
create or replace macro spelled_date(moment) as strftime(moment, '%b %-d, %Y')
