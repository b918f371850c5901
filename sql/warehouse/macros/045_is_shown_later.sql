-- Whether search still showed a page a week after it was inspected, on a day in California.
create or replace macro is_shown_later(last_impression_date, inspected_on) as
  last_impression_date >= inspected_on + 7
