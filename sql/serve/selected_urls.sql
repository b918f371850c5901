-- A window of the pages `selected`: what is equal, or not known, comes last and is ordered by URL.
select url
from selected
order by ascending nulls last, descending desc nulls last, url
limit $limit::bigint
offset $skip::bigint
