-- After how many nights an inspection of tonight saw that a page which counted as indexed had fallen, and for how many nights
-- a page has neither been inspected nor shown.
insert into world_seen
select
  night,
  list(night - fell_on) filter (
    planned.url is not null and (found or counts_as = 'shown') and not is_indexed and fell_on is not null
  ),
  max(getvariable('today') - unseen_since) filter (planned.url is null),
  avg(is_indexed::integer)
from (select *, getvariable('night')::integer as night from world_pages)
join inspections_due using (url)
left join planned using (url)
group by night
