-- Whether a page is shown no more: the chance of its silence is below one in a thousand. Fewer days than seven are no
-- rhythm: a single event may have brought them, and the prior of one day weighs more than an eighth. One silent day is never enough.
create or replace macro is_silent(days_shown, days, silent_days) as
  days_shown >= 7 and silence_chance(days_shown, days, silent_days) < 0.001
