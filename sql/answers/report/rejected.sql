-- What was quarantined in the period and why: the first problem of each record.
select
  source,
  coalesce(json_extract_string(issues, '$[0].path'), '') as field,
  coalesce(json_extract_string(issues, '$[0].message'), 'no reason was recorded') as message,
  count(*) as records,
  (count(*) over ()) as total
from quarantine
where
  ($website::varchar is null or website_id = $website::varchar)
  and snapshot_date between $since::date and $until::date
group by source, field, message
order by records desc, source, field, message
limit $limit
