-- title: Pages in search
-- description: How many pages search showed, week by week, with their clicks and impressions, for each property of Search Console. `entered` are pages that it showed for the first time, or again after more than 28 days; `left_search` those that it did not show again for 28 days or more. They are null where one of these 28 days is not known. `days` is how many days of a row are known: a week that is not over, or has days that are unknown (`search_dates`), has fewer. `is_final`: none of them may still change. `is_cut`: Google leaves out pages on days with more than 50,000 of them, so the counts are too low. A page that search shows is in the index on that day; the reverse does not hold.
-- question: What does search show?
-- param since (date, default 69 weeks ago): first date
-- param until (date, default today): last date
-- param by (text, default week): length of a row's time: day, week or month
-- param type (text, default web): type of search: web, image, video, news, discover or googleNews
-- param directories (boolean, default false): a row for each directory
-- grain: one row per website and week, or as `by` and `directories` say
-- show starts_on (date): from
-- show directory (text): directory
-- show pages (count): pages shown
-- show entered (count): entered
-- show left_search (count): left
-- show clicks (count): clicks
-- show impressions (count): impressions
-- show days (count): of days
-- show is_final (flag): final
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
    and "type" = if($type in ('web', 'image', 'video', 'news', 'discover', 'googleNews'), $type, error('type is not one of web, image, video, news, discover, googleNews'))
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
    sum(impressions)::bigint as impressions
  from stepped
  where starts_on between $since::date and $until::date
  group by all
),
known as (
  select
    website_id,
    date_trunc($by, "date")::date as starts_on,
    count(*)::integer as days,
    bool_and(is_final) as is_final,
    bool_or(is_cut) as is_cut,
    min("date") as first_date,
    max("date") as last_date
  from search_dates
  where "type" = $type and unknown is null
  group by website_id, date_trunc($by, "date")
),
surrounded as (
  select
    known.*,
    count_if("date" < first_date) = 28 as is_known_before,
    count_if("date" > last_date and dates.is_final) = 28 as is_known_after
  from known
  left join (from search_dates where "type" = $type and unknown is null) as dates
    on dates.website_id = known.website_id and "date" between first_date - 28 and last_date + 28
  group by all
)
select
  website_id,
  starts_on,
  directory,
  pages,
  if(is_known_before, entered, null) as entered,
  if(is_known_after, left_search, null) as left_search,
  clicks,
  impressions,
  days,
  is_final,
  is_cut
from counted
join surrounded using (website_id, starts_on)
order by website_id, starts_on, pages desc, directory
