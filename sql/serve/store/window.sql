-- A window of `listed`, by position.
select *
from listed
order by url
limit $limit::bigint
offset $skip::bigint
