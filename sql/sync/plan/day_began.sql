-- When the day began for which inspections are counted: quotas turn at midnight in California.
set variable day_began = timezone(
  'America/Los_Angeles',
  date_trunc('day', timezone('America/Los_Angeles', getvariable('planned_at')::timestamptz))
)
