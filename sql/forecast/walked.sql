-- What one walk listed: pages, those without a usable URL each counted, and a value that two walks share if they list
-- the same.
select
  (count(distinct url) + count(*) filter (url is null))::integer as pages,
  coalesce(bit_xor(distinct hash(url)), 0)::varchar as fingerprint
from listed
where walk = $walk::integer
