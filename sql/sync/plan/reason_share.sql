-- Which share of the inspections goes to random checks and to pages with a reason: 60%, or less, so that the rotation keeps
-- pace. A page that waits for its turn for three quarters of a plain rotation is due tonight, so that none is unseen for longer
-- than that takes; those of the next week are spread over it.
set variable reason_share = (
  select least(0.6, greatest(0.15, 1 - greatest(due, soon / 8) / nullif(a_day, 0)))
  from (
    select
      count(*) filter (coalesce(turn_on, unseen_since) <= getvariable('today') - period + period // 4) as due,
      count(*) filter (coalesce(turn_on, unseen_since) <= getvariable('today') - period + period // 4 + 7) as soon,
      (select sum(per_day) from quotas_left) as a_day
    from inspections_due
  )
)
