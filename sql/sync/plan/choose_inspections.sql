-- Chooses pages for the properties that `depth` - 1 others cover: up to `share` of what is left of each. Below a share of
-- 1 those with a reason, else any by rotation. Both are mixed, so that each gets its share of what others leave of the
-- quota.
insert into chosen_inspections
select
  url,
  reason,
  spelling,
  scope,
  -- What looked as if it fell comes first.
  if(reason = 'unconfirmed', 0, place / if(getvariable('share') < 1, getvariable('share'), 1 - getvariable('reason_share')))
from (
  select
    url,
    if(getvariable('share') < 1, reason, turn_reason) as reason,
    spelling,
    path[getvariable('depth')] as scope,
    row_number() over (partition by scope order by if(getvariable('share') < 1, reason_rank, turn_rank)) as place
  from ranked_inspections
  anti join chosen_inspections using (url)
  where len(path) >= getvariable('depth') and (getvariable('share') = 1 or reason_rank is not null)
)
join quotas_left using (scope)
left join (select scope, count(*) as chosen from chosen_inspections group by scope) using (scope)
where place <= floor(getvariable('share') * "left") - coalesce(chosen, 0)
