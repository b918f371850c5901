-- Which share of the inspections goes to random checks and to pages with a reason: 60%, or less, so that the rotation keeps
-- pace. A page that nothing showed for as long as a plain rotation takes is due tonight; those of the next week are spread over it.
set variable reason_share = (
  select least(0.6, greatest(0.15, 1 - greatest(due, soon / 8) / nullif(a_day, 0)))
  from (
    select
      count(*) filter (unseen_since <= getvariable('today') - period) as due,
      count(*) filter (unseen_since <= getvariable('today') - period + 7) as soon,
      any_value(per_day) as a_day
    from inspections_due
    cross join (
      select sum(per_day) as per_day, ceil((select count(*) from inspections_due) / sum(per_day))::integer as period
      from quotas_left
    )
    where not is_shown
  )
)
