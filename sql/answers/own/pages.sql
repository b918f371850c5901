-- What a file of the user's says of the pages, `known`: the first row about a page counts.
select website_id, url, arg_min(own, place) as own
from (
  select website_id, known.url, place, own
  from known
  join own.rows on url_key(known.url) = key
  union all
  select website_id, matched.url, place, own
  from (select website_id, url, own.place_of(url) as place from known) as matched
  join own.rows using (place)
)
group by website_id, url
