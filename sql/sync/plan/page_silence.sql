-- The rhythm in which search showed each page in the last 90 days that are final, for `silence_chance`: on `days_shown` of
-- the `days` days after the first one, up to the last, and on none of the `silent_days` days since. A day without any page
-- is an outage of Google's and no day; nor is one whose web search was not fetched, or one that is cut, because a page that is missing on it may only be beyond the
-- cut. `is_silent_until_now`: neither a day that is cut nor one that may still change shows the page since.
create or replace temp view page_silence as
with known_days as (
  select "date", row_number() over (order by "date") as nth, count(*) over () as days_known
  from search_dates
  join search_ends using (website_id)
  where is_final and "date" > last_final_date - 90
  group by "date"
  having sum(pages) > 0 and not bool_or(is_cut) and count_if("type" = 'web') > 0
),
shown as (
  select
    url,
    count(*) - 1 as days_shown,
    max(nth) - min(nth) as days,
    any_value(days_known) - max(nth) as silent_days,
    max("date") as last_shown_date
  from (select distinct url, "date" from search_final)
  join known_days using ("date")
  group by url
  having count(*) > 1
)
select
  url,
  shown.days_shown,
  days,
  silent_days,
  last_shown_date = last_impression_date and late.url is null as is_silent_until_now
from shown
join page_search using (url)
left join (select distinct url from search_days where not is_final) as late using (url)
