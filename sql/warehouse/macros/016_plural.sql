-- A number with its noun: 1 day, 2 days.
create or replace macro plural(number, thing) as number || ' ' || thing || if(number = 1, '', 's')
