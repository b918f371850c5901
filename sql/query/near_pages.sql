-- A page by its URL, or the few whose URLs are nearest to one that is not there: with the same last part of the path, or
-- few other letters. View `pages`: one row per page.
with known as (
  select
    url,
    url = $url::varchar as is_it,
    if(abs(length(url) - length($url::varchar)) <= 5, levenshtein(lower(url), lower($url::varchar)), null) as distance,
    regexp_extract(url, '([^/?#]+)/?([?#].*)?$', 1) = regexp_extract($url::varchar, '([^/?#]+)/?([?#].*)?$', 1)
      as has_same_end
  from pages
  where is_website(website_id, $website::varchar)
)
select distinct url, is_it, distance
from known
where is_it or has_same_end or distance <= 5
order by is_it desc, distance nulls last, url
limit 5
