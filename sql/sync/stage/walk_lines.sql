-- The few bytes of each line of the kept walk that show which entries count and which are not plain. The journal is
-- large: it is read once for these, once for the entries themselves, and on most nights not again.
create or replace temp table walk_lines as
select
  kind,
  "window",
  position,
  keep,
  "at",
  drift,
  source,
  if(url is null, null, hash(url)) as url_hash,
  kind = 'reject' or absent is not null as is_odd
from journal_listing
where walk = getvariable('walk')
