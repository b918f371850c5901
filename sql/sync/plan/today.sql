-- The day in California.
set variable today = california_date(getvariable('planned_at')::timestamptz)
