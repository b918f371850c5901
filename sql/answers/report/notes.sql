-- The notes of a period, each once, oldest first; `names` of its websites, null if it is for all that are shown.
-- `$website`: an id or null for all; `$since`, `$until`: dates.
with named as (
  select website_id, arg_max(website_name, snapshot_id) as name, count(*) over () as shown
  from snapshots
  where $website::varchar is null or website_id = $website::varchar
  group by website_id
)
select
  note_id,
  note_date,
  note,
  directory,
  list(website_id order by website_id) as websites,
  if(count(*) >= any_value(shown), null, string_agg(coalesce(name, website_id), ', ' order by name)) as names
from notes
left join named using (website_id)
where note_date between $since::date and $until::date
group by note_id, note_date, note, directory
order by note_date, note_id
