-- How long search has not shown each page of a property, as of a date: `last_date`, the last day on which any type of search
-- showed it, `days_shown` of the last `days` known days up to it (90 at most, from its first one on), the `silent_days` known
-- since, and the clicks of web search in the 28 days up to it. A day without any page of the property is an outage of
-- Google's and no known day; nor is one that is cut, on which a page may only be beyond the cut, or whose web search was
-- not fetched.
create or replace macro search_silences(asked_website, until_date) as table
with known_days as (
  select website_id, "date", row_number() over (partition by website_id order by "date") as number
  from search_dates
  where is_final and is_website(website_id, asked_website) and "date" <= until_date
  group by website_id, "date"
  having sum(pages) > 0 and not bool_or(is_cut) and count_if("type" = 'web') > 0
),
ends as (
  select website_id, max(number) as last_number from known_days group by website_id
),
shown as (
  select website_id, url, min("date") as first_date, max("date") as last_date
  from search_final
  where is_website(website_id, asked_website) and "date" <= until_date
  group by website_id, url
),
recent as (
  select
    website_id,
    url,
    (count(distinct "date") filter (known_days.number is not null))::integer as days_shown,
    coalesce(sum(clicks) filter ("type" = 'web' and "date" > last_date - 28), 0)::bigint as clicks
  from search_final
  join shown using (website_id, url)
  left join known_days using (website_id, "date")
  where "date" > last_date - 90 and "date" <= last_date
  group by website_id, url
)
select
  website_id,
  url,
  first_date,
  last_date,
  days_shown,
  (last_day.number - first_day.number + 1)::integer as days,
  (last_number - last_day.number)::integer as silent_days,
  clicks
from shown
join recent using (website_id, url)
join ends using (website_id)
asof join known_days as last_day on last_day.website_id = shown.website_id and last_date >= last_day."date"
asof join known_days as first_day
  on first_day.website_id = shown.website_id and greatest(first_date, last_date - 89) >= first_day."date"
where days_shown > 0
