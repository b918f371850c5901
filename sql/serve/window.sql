-- Entries of `listed` by their place.
select *
from listed
order by url
limit $limit::bigint
offset $skip::bigint
