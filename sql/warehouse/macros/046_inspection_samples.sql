-- What a night's inspections found, as JSON: how many pages were `inspected`; of those that the rotation chose at random, how
-- many were `drawn`, and how many of them were indexed; of the `checked` pages that search shows, how many came into the index,
-- and how many left it.
create or replace macro inspection_samples(reason, index_summary) as to_json({
  inspected: count(index_summary),
  drawn: count_if(reason = 'oldest' and index_summary is not null),
  drawn_indexed: count_if(reason = 'oldest' and index_summary = 'Indexed'),
  checked: count_if(reason in ('shown', 'ended') and index_summary is not null),
  came: count_if(reason = 'ended' and index_summary = 'Indexed'),
  went: count_if(reason = 'shown' and index_summary <> 'Indexed')
})
