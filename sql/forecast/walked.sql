-- What one walk listed: the number of pages, counting each one without a usable URL, and a value that is equal for two
-- walks that list the same.
select
  (count(distinct url) + count(*) filter (url is null))::integer as pages,
  coalesce(bit_xor(distinct hash(url)), 0)::varchar as fingerprint
from listed
where walk = $walk::integer
