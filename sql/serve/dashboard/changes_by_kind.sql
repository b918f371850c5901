-- How many pages of a website fell out of the index between two dates, entered it, or did both, how many changes of
-- each other kind there were, and how many of them are noise.
select move as change, count(*)::integer as changes, 0 as noise
from period_moves($from::date, $to::date)
where
  website_id = $website::varchar
  and move not in ('passed', 'first_inspected')
  and is_selected(url, null, $directory::varchar, $url_contains::varchar, null)
group by move
union all
select
  change,
  count(*)::integer as changes,
  count(*) filter (is_noise(change, from_value))::integer as noise
from page_changes
where
  website_id = $website::varchar
  and change not in ('indexed', 'deindexed', 'data_lost')
  and snapshot_date between $from::date and $to::date
  and is_selected(url, null, $directory::varchar, $url_contains::varchar, null)
group by change
order by noise, changes desc, change
