-- From where to where pages of a website moved that fell out of the index in a period of dates, most pages first: origins,
-- or else first directories, or else the directories that hold the pages.
with moved as (
  select
    url,
    moved_to,
    [url, moved_to] as urls,
    list_transform(urls, lambda one: regexp_extract(one, '^[^:]+://[^/?#]*')) as origins,
    list_transform(urls, lambda one: directory_of(one)) as firsts,
    list_transform(urls, lambda one: directories_of(one)[-1]) as deepest,
    case
      when origins[1] <> origins[2] then origins
      when firsts[1] <> firsts[2] then firsts
      else deepest
    end as places
  from falls($since::date, $until::date)
  where move = 'fell_out' and moved_to is not null and website_id = $website::varchar
)
select
  places[1] as from_place,
  places[2] as to_place,
  count(*)::integer as pages,
  count(distinct moved_to)::integer as twins
from moved
group by places
having count(*) >= 5
order by pages desc, from_place, to_place
limit 2
