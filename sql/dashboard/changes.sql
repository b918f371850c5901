-- What changed of a website's pages, or of one, between two dates, newest night first and the index before the rest.
-- `kind`: pages with such a change, null for all but noise (crawls, first reports), `all` for everything. View `page_changes`: one row
-- per change.
with told as (
  select
    snapshot_date,
    url,
    change,
    change in ('deindexed', 'data_lost', 'disappeared', 'indexed', 'appeared') as is_of_index,
    case
      when change in ('deindexed', 'data_lost') then 0
      when change = 'disappeared' then 1
      when change = 'indexed' then 2
      when change = 'appeared' then 3
      when change = 'coverage_state' then 4
      else 5
    end as rank,
    is_noise(change, from_value) as is_noise,
    -- Texts may have megabytes.
    change_told(
      change,
      if(from_value = url, 'itself', left(from_value, 2000)),
      if(to_value = url, 'itself', left(to_value, 2000))
    ) as told
  from page_changes
  where
    website_id = $website::varchar
    and ($from::date is null or snapshot_date >= $from::date)
    and ($to::date is null or snapshot_date <= $to::date)
    and ($url::varchar is null or url = $url::varchar)
    and is_selected(url, null, $directory::varchar, $url_contains::varchar, null)
)
select
  snapshot_date::varchar as snapshot_date,
  left(url, 17000) as url,
  min(rank) < 2 as is_loss,
  string_agg(told, '; ' order by rank, change) filter (is_of_index) as index_change,
  string_agg(told, '; ' order by rank, change) filter (not is_of_index) as other_changes,
  null as ascending,
  {night: snapshot_date, first: -min(rank)} as descending
from told
where not is_noise or $kind::varchar in (change, 'all')
group by told.snapshot_date, told.url
having $kind::varchar is null or $kind::varchar = 'all' or bool_or(change = $kind::varchar)
