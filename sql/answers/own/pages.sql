-- What a file of the user's says of the pages, `known`: the first row about a page counts.
select website_id, url, arg_min(own, place) as own
from (
  select website_id, known.url, place, own
  from known
  join own.rows on url_key(known.url) = key
  union all
  select website_id, known.url, place, own
  from (select *, regexp_replace(url, '^[^:/?#]*://[^/?#]*', '') as path from known) as known
  join (from own.rows where pattern <> '') as patterns on if(is_path, path, url) like pattern escape '\'
)
group by website_id, url
