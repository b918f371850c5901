-- The nights and pages of a website, or of one page, on which something changed between two dates, with the value that
-- they are sorted by: newest night first, then by how much the change matters for the index. `kind`: only those with
-- such a change, or of pages with such a move of `index_moves`, which may have been seen before the first date; null
-- for all but noise (crawls, first reports), `all` for everything.
with moved as materialized (
  select made.snapshot_date, url
  from period_moves($from::date, $to::date)
  where website_id = $website::varchar and move = $kind::varchar
)
select
  snapshot_date,
  url,
  null as ascending,
  {night: snapshot_date, first: -min(change_rank(change))} as descending
from page_changes
where
  website_id = $website::varchar
  and (
    (
      ($from::date is null or snapshot_date >= $from::date)
      and ($to::date is null or snapshot_date <= $to::date)
    )
    or (snapshot_date, url) in (from moved)
  )
  and ($url::varchar is null or url = $url::varchar)
  and is_selected(url, null, $directory::varchar, $url_contains::varchar, null)
  and (not is_noise(change, from_value) or $kind::varchar in (change, 'all'))
group by snapshot_date, url
having
  $kind::varchar is null
  or $kind::varchar = 'all'
  or bool_or(change = $kind::varchar)
  or (snapshot_date, url) in (from moved)
