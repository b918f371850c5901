-- After how many nights an inspection of tonight saw that a page which counted as indexed had fallen, and when a plain
-- rotation did; for how many nights a page has neither been inspected nor shown; for how many rounds of a plain rotation one
-- that search shows was never inspected.
insert into world_seen
select
  night,
  list(night - fell_on) filter (
    planned.counts_as = 'shown' and not is_indexed and fell_on is not null
  ),
  list(night - fell_on) filter (plain.url is not null and plain_found and not is_indexed and fell_on is not null),
  max(getvariable('today') - unseen_since) filter (planned.url is null),
  max(night - born_on) filter (planned.url is null and found is null and is_shown) / (count(*) / getvariable('a_night')),
  avg(is_indexed::integer)
from (select *, getvariable('night')::integer as night from world_now)
join inspections_due using (url)
left join planned using (url)
left join plain using (url)
group by night
