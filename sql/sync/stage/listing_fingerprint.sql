-- How many pages a walk lists, how many of them were rejected, and a value that is equal for two walks that list the
-- same.
select
  count(*)::integer as pages,
  (count(*) filter (kind = 'reject'))::integer as rejected,
  concat_ws('-', count(*), bit_xor(hash(url)), sum(hash(url)::hugeint)) as fingerprint
from listed_entries
