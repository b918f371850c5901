-- How many pages of a property web search showed on a day, as the average of the final days of each week up to a date; null
-- for a week of which no day is known.
with known as (
  select date_trunc('week', "date")::date as starts_on, round(avg(pages))::integer as pages, bool_or(is_cut) as is_cut
  from search_dates
  where website_id = $website::varchar and "type" = 'web' and is_final and unknown is null and "date" <= $until::date
  group by all
)
select starts_on, pages, coalesce(is_cut, false) as is_cut
from (select unnest(range(min(starts_on), max(starts_on) + 1, interval 7 days))::date as starts_on from known)
left join known using (starts_on)
order by starts_on
