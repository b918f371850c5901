-- How many pages of a property web search showed on a day, as the average of the final days of each week up to a date.
select
  date_trunc('week', "date")::date as starts_on,
  round(avg(pages))::integer as pages,
  bool_or(is_cut) as is_cut
from search_dates
where website_id = $website::varchar and "type" = 'web' and is_final and "date" <= $until::date
group by all
order by starts_on
