-- A window of the pages in `selected`: unknown values come last, and equal ones are ordered by URL.
select url
from selected
order by ascending nulls last, descending desc nulls last, url
limit $limit::bigint
offset $skip::bigint
