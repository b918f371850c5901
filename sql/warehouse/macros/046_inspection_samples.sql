-- What a night's inspections found ('indexed', 'not indexed', 'unsure' if a fall is not confirmed, null if nothing), as JSON. Of
-- the pages that counted as indexed (`shown`), as not indexed (`ended`), and of which nothing was known (`others`): how many
-- were inspected, and how many of these are indexed. Of the first two, how many were `_checked` without a reason, and how many
-- of these had left the index (`went`) or come into it (`came`). Of the last, how many were `drawn` at random: the first in the
-- random order, up to the first one that was left out.
create or replace macro inspection_samples(counts_as, reason, draw, place, found) as to_json({
  shown: count(found) filter (counts_as = 'shown'),
  shown_indexed: count(*) filter (counts_as = 'shown' and found = 'indexed'),
  shown_checked: count(found) filter (counts_as = 'shown' and reason in ('shown', 'turn', 'oldest')),
  went: count(*) filter (counts_as = 'shown' and reason in ('shown', 'turn', 'oldest') and found <> 'indexed'),
  unsure: count(*) filter (found = 'unsure'),
  ended: count(found) filter (counts_as = 'ended'),
  ended_indexed: count(*) filter (counts_as = 'ended' and found = 'indexed'),
  ended_checked: count(found) filter (counts_as = 'ended' and reason in ('ended', 'turn', 'oldest')),
  came: count(*) filter (counts_as = 'ended' and reason in ('ended', 'turn', 'oldest') and found = 'indexed'),
  others: count(found) filter (counts_as is null),
  others_indexed: count(*) filter (counts_as is null and found = 'indexed'),
  drawn: count(found) filter (counts_as is null and draw = place),
  drawn_indexed: count(*) filter (counts_as is null and draw = place and found = 'indexed')
})
