-- A number from 0 to 1 that is drawn once for each page, night and purpose.
create or replace macro unit(page, night, purpose) as
  hash(page, night, purpose, getvariable('seed')) / 18446744073709551616
