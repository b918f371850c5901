-- A few pages that may be meant by an unknown URL: the last part of their path is the same or differs in a few
-- letters.
with asked as (
  select
    $url::varchar as asked_url,
    regexp_extract(asked_url, '([^/?#]+)/?([?#].*)?$', 1) as asked_end,
    lower(regexp_extract(asked_url, '^(.*?)[^/?#]*/?([?#].*)?$', 1)) as asked_start
),
known as (
  select
    url,
    regexp_extract(url, '([^/?#]+)/?([?#].*)?$', 1) as "end",
    case
      when "end" = asked_end then 0
      -- Levenshtein is slow, so it only compares the short ends of URLs that begin alike.
      when length("end") <= 200 and abs(length("end") - length(asked_end)) <= 3
        and starts_with(lower(url), asked_start)
        then levenshtein(lower("end"), lower(asked_end))
    end as distance
  from page_state, asked
  where is_website(website_id, $website::varchar)
)
select distinct url, distance
from known
where distance <= 3
order by distance, url
limit 5
