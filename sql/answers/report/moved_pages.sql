-- From where to where pages of a website moved that fell out of the index in a period of dates, most pages first: origins,
-- or else first directories, or else the directories that hold the pages. If at least four fifths of the pages that were
-- indexed moved, the whole website did, which is one move.
with fell as (
  from falls($since::date, $until::date) where move = 'fell_out' and moved_to is not null and website_id = $website::varchar
),
moved as (
  select
    moved_to,
    [regexp_replace(one, '/$', '') for one in [url, moved_to]] as urls,
    [regexp_extract(one, '^[^:]+://[^/?#]*') for one in urls] as origins,
    [directory_of(one) for one in urls] as firsts,
    case
      when origins[1] <> origins[2] then origins
      when firsts[1] <> firsts[2] then firsts
      else [directories_of(one)[-1] for one in urls]
    end as places
  from fell
),
counted as (
  select
    count(distinct places[1]) as from_places,
    count(distinct places[2]) as to_places,
    count(*) >= 0.8 * (
      select sum(pages)
      from coverage_summary
      where snapshot_id in (select before_id from fell) and index_summary = 'Indexed'
    ) as is_whole
  from moved
)
select
  if(is_whole and from_places > 1, 'the whole website', places[1]) as from_place,
  if(is_whole and to_places > 1, 'other directories', places[2]) as to_place,
  count(*)::integer as pages,
  count(distinct moved_to)::integer as twins
from moved, counted
group by from_place, to_place
having count(*) >= 5
order by pages desc, from_place, to_place
limit 2
