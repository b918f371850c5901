-- What a night's inspections found, as JSON: how many pages were `inspected`; of those that the rotation chose at random, how
-- many were `drawn`, and how many of them were indexed; of the `checked` pages that search shows, how many came into the index,
-- and how many left it.
create or replace macro inspection_samples(reason, index_summary) as to_json({
  inspected: count(index_summary),
  drawn: count(*) filter (reason = 'oldest' and index_summary is not null),
  drawn_indexed: count(*) filter (reason = 'oldest' and index_summary = 'Indexed'),
  checked: count(*) filter (reason in ('shown', 'ended') and index_summary is not null),
  came: count(*) filter (reason = 'ended' and index_summary = 'Indexed'),
  went: count(*) filter (reason = 'shown' and index_summary <> 'Indexed')
})
