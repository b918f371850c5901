-- What a night's inspections that were chosen at random found, as JSON: of the rotation, how many pages were `drawn`, and how
-- many of them were indexed; of the `checked` pages that search shows, how many came into the index, and how many left it.
create or replace macro inspection_samples(reason, index_summary) as to_json({
  drawn: count_if(reason = 'oldest' and index_summary is not null),
  drawn_indexed: count_if(reason = 'oldest' and index_summary = 'Indexed'),
  checked: count_if(reason in ('shown', 'ended') and index_summary is not null),
  came: count_if(reason = 'ended' and index_summary = 'Indexed'),
  went: count_if(reason = 'shown' and index_summary <> 'Indexed')
})
