-- Whether search showed a page within the last seven days that are final.
create or replace macro is_shown_lately(last_impression_date, last_final_date) as
  last_impression_date > last_final_date - 7
