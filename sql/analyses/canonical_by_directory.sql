-- title: Search engine's and owner's canonical by directory
-- description: For how many monitored pages of a directory the search engine has chosen the canonical URL that their owner declares, another one, or only one of both is known. `share_differing` is of the pages that have both.
-- param website (text, default all): id or name of one website
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and directory
select
  website_id,
  directory_of(url) as directory,
  count(*) as pages,
  count(*) filter (searchengine_selected_canonical = user_selected_canonical) as same,
  count(*) filter (searchengine_selected_canonical <> user_selected_canonical) as differing,
  count(*) filter (user_selected_canonical is null and searchengine_selected_canonical is not null)
    as searchengine_only,
  count(*) filter (searchengine_selected_canonical is null and user_selected_canonical is not null) as user_only,
  count(*) filter (searchengine_selected_canonical is null and user_selected_canonical is null) as neither,
  round(differing / nullif(same + differing, 0), 4) as share_differing
from pages
where
  is_monitored
  and is_website(website_id, $website::varchar)
group by website_id, directory
order by differing desc, pages desc, website_id, directory
limit $limit::bigint
