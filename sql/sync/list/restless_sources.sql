-- The sitemaps whose `lastmod` says nothing, because whatever writes them moves it every night: nearly all of their pages
-- were modified since the listing before, and within a day.
create or replace temp view restless_sources as
select source
from sightings
cross join (select least(max(listed_at), getvariable('day_ago')) as listed_before from previous_state)
where lastmod is not null
group by source
having count(*) >= 5 and count_if(lastmod::timestamptz > listed_before) >= 0.9 * count(*)
