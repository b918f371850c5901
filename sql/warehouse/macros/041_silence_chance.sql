-- The chance that a page which search showed on so many of its `days`, the last of them included, is not shown on any of the
-- `silent_days` that follow, if nothing has changed: the share of days is unknown (Jeffreys' prior), each day is by itself.
create or replace macro silence_chance(days_shown, days, silent_days) as exp(
  lgamma(days - days_shown + silent_days + 0.5) + lgamma(days) - lgamma(days - days_shown + 0.5) - lgamma(days + silent_days)
)
