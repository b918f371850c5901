-- Of each line of the kept walk the few bytes that tell which entries count and which of them are no plain ones. The
-- journal is large: it is read once for these, once for the entries themselves, and most nights not again.
create or replace temp table walk_lines as
select
  kind,
  "window",
  position,
  keep,
  "at",
  drift,
  if(url is null, null, hash(url)) as url_hash,
  kind = 'reject' or absent is not null as is_odd
from journal_listing
where walk = getvariable('walk')
