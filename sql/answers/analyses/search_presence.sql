-- title: Pages in search
-- description: How many pages search showed, week by week, with their clicks and impressions, for each property of Search Console. `entered` are pages that it showed for the first time, or again after more than 28 days; `left_search` those that it did not show again for 28 days or more. They are null where too few days before or after are known. `is_cut`: Google leaves out pages on days with more than 50,000 of them, so the counts are too low. A page that search shows is in the index on that day; the reverse does not hold.
-- question: What does search show?
-- param website (text, default all): id or name of one website
-- param since (date, default 69 weeks ago): first date
-- param until (date, default today): last date
-- param by (text, default week): length of a row's time: day, week or month
-- param type (text, default web): type of search: web, image, video, news, discover or googleNews
-- param directories (boolean, default false): a row for each directory
-- grain: one row per website and week, or as `by` and `directories` say
-- show website_id (website): website
-- show starts_on (date): from
-- show directory (text): directory
-- show pages (count): pages shown
-- show entered (count): entered
-- show left_search (count): left
-- show clicks (count): clicks
-- show impressions (count): impressions
with shown as (
  select
    website_id,
    date_trunc(if($by in ('day', 'week', 'month'), $by, error('by is not one of day, week, month')), "date")::date
      as starts_on,
    url,
    sum(clicks) as clicks,
    sum(impressions) as impressions,
    min("date") as first_date,
    max("date") as last_date
  from search_days
  where
    is_website(website_id, $website::varchar)
    and "type" = $type
    and "date" between $since::date - 60 and $until::date + 60
  group by all
),
stepped as (
  select
    *,
    first_date > coalesce(lag(last_date) over by_page, '-infinity') + 28 as enters,
    coalesce(lead(first_date) over by_page, 'infinity') > last_date + 28 as leaves
  from shown
  window by_page as (partition by website_id, url order by starts_on)
),
counted as (
  select
    website_id,
    starts_on,
    if($directories::boolean, directory_of(url), null) as directory,
    count(*) as pages,
    count_if(enters) as entered,
    count_if(leaves) as left_search,
    sum(clicks)::bigint as clicks,
    sum(impressions)::bigint as impressions,
    max(last_date) as last_date
  from stepped
  where starts_on between $since::date and $until::date
  group by all
),
cut as (
  select website_id, date_trunc($by, "date")::date as starts_on, bool_or(is_cut) as is_cut
  from search_dates
  where "type" = $type
  group by all
)
select
  website_id,
  starts_on,
  directory,
  pages,
  if(starts_on > search_ends.first_date + 28, entered, null) as entered,
  if(counted.last_date <= search_ends.last_final_date - 28, left_search, null) as left_search,
  clicks,
  impressions,
  is_cut
from counted
join search_ends using (website_id)
join cut using (website_id, starts_on)
order by website_id, starts_on, pages desc, directory
