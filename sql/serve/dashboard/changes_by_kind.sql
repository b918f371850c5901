-- How many changes of each kind a website had between two dates, and how many of them are noise. View `page_changes`: one
-- row per change.
select
  change,
  count(*)::integer as changes,
  count(*) filter (is_noise(change, from_value))::integer as noise
from page_changes
where
  website_id = $website::varchar
  and snapshot_date between $from::date and $to::date
  and is_selected(url, null, $directory::varchar, $url_contains::varchar, null)
group by change
order by changes desc, change
