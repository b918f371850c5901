-- title: Canonical of search engine and owner by directory
-- description: Monitored pages by directory: for how many the search engine chose the canonical URL that the owner declares, for how many another one, and for how many only one of the two is known. `share_differing` is the share among pages that have both.
-- question: Canonicals
-- param website (text, default all): id or name of one website
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and directory
-- show website_id (website): website
-- show directory (text): directory
-- show pages (count): pages
-- show same (count): same
-- show differing (count): differing
-- show share_differing (share): differing of both
-- show searchengine_only (count): search engine only
-- show user_only (count): owner only
-- show neither (count): neither
select
  website_id,
  directory_of(url) as directory,
  count(*) as pages,
  count(*) filter (compared = 'match') as same,
  count(*) filter (compared = 'differ') as differing,
  count(*) filter (compared = 'undeclared') as searchengine_only,
  count(*) filter (searchengine_selected_canonical is null and user_selected_canonical is not null) as user_only,
  count(*) filter (searchengine_selected_canonical is null and user_selected_canonical is null) as neither,
  round(differing / nullif(same + differing, 0), 4) as share_differing
from (select *, canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as compared from pages)
where
  is_monitored
  and is_website(website_id, $website::varchar)
group by website_id, directory
order by differing desc, pages desc, website_id, directory
limit $limit::bigint
