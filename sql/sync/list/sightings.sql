-- What each place says about each page: sitemaps as they were read, and search analytics of the last 90 days. `spelling`:
-- with search analytics that with the most impressions tonight, if that is not `url`.
create or replace temp table sightings as
select distinct url, spelling, sitemap as source, lastmod, null::bigint as impressions
from read_json(
  getvariable('sightings_file'),
  format = 'newline_delimited',
  columns = {url: 'VARCHAR', spelling: 'VARCHAR', sitemap: 'VARCHAR', lastmod: 'VARCHAR'}
)
union all
select url, coalesce(tonight.spelling, known.spelling), 'search analytics', null, coalesce(tonight.impressions, 0)
from (select distinct url from search_days where "date" > (select max("date") from search_dates) - 90) as shown
left join (
  select url, arg_max(spelling, impressions) as spelling, max(impressions) as impressions
  from (
    select url, coalesce(spelling, url) as spelling, sum(impressions) as impressions
    from search_pages
    group by all
  )
  group by url
) as tonight using (url)
left join (select url_key(url) as url, spelling from previous_state) as known using (url)
