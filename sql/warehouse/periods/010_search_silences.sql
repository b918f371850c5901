-- The rhythm in which search showed each page of a property, and its silence, as of a date, for `silence_chance`: on
-- `days_shown` of the `days` known days after the first one, up to `last_date`, the last day on which any type of search
-- showed it, and on none of the `silent_days` known days since; and the clicks of web search in the 28 days up to it. The
-- rhythm is that of the 90 days up to `last_date`, of those after `since_date`. The first day does not count, because it is
-- one that showed the page by definition. A day without any page of the property is an outage of Google's and no known day;
-- nor is one that is cut, on which a page may only be beyond the cut, or whose web search was not fetched. Pages that were
-- shown within the last `least_days` known days may be left out.
create or replace macro search_silences(asked_website, until_date, since_date, least_days) as table
with known_days as (
  select website_id, "date", row_number() over (partition by website_id order by "date") as number
  from search_dates
  where is_website(website_id, asked_website) and "date" <= until_date
  group by website_id, "date"
  having
    bool_and(is_final and unknown is null) and sum(pages) > 0 and not bool_or(is_cut) and count_if("type" = 'web') > 0
),
ends as (select website_id, max(number) as last_number from known_days group by website_id),
shown as (
  select website_id, url, max("date") as last_date
  from search_days
  where is_final and is_website(website_id, asked_website) and "date" <= until_date and "date" > since_date
  group by website_id, url
  having last_date < coalesce((select max("date") from known_days join ends using (website_id) where number = last_number - least_days + 1), 'infinity')
),
recent as (
  select
    website_id,
    url,
    last_date,
    -- A bit for each of at most 91 days: a set of dates for each page would not fit into the memory of a sync.
    bit_count(bit_or(1::hugeint << (number % 100)::integer)) - 1 as days_shown,
    min(number) as first_number,
    coalesce(sum(clicks) filter ("type" = 'web' and "date" > last_date - 28), 0)::bigint as clicks
  from search_days
  join shown using (website_id, url)
  left join known_days using (website_id, "date")
  where is_final and "date" > greatest(last_date - 90, since_date) and "date" <= last_date
  group by website_id, url, last_date
)
select
  website_id,
  url,
  last_date,
  days_shown::integer as days_shown,
  (last_day.number - first_number)::integer as days,
  (last_number - last_day.number)::integer as silent_days,
  clicks
from recent
join ends using (website_id)
asof join known_days as last_day on last_day.website_id = recent.website_id and last_date >= last_day."date"
where days_shown > 0
