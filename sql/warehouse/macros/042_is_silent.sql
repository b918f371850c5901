-- Whether a page is shown no more: the chance of its silence is below one in a thousand.
create or replace macro is_silent(days_shown, days, silent_days) as silence_chance(days_shown, days, silent_days) < 0.001
