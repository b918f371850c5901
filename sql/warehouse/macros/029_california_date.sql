-- The date in California, whose days are Google's.
create or replace macro california_date(moment) as timezone('America/Los_Angeles', moment)::date
