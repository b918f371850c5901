-- title: Where pages fell out of the index
-- description: The directories of the pages that fell out: `indexed_before` + `first_inspected` + `entered` − `fell_out` − `retired` = `indexed`. A page fell out in a period if it is indexed in the last complete listing before it, and not in the last one of it, whether that still lists it or not; entered is the reverse. `share_fell_out` is of the pages of the directory that were indexed before. Pages that fell out and came back in the period are `returned`.
-- question: What fell out?
-- param since (date, default 6 days ago): first date; compared with the last complete listing before it
-- param until (date, default today): last date
-- param limit (integer, default 10): at most this many rows, or none for all
-- grain: one row per website and first directory of the URL's path
-- show directory (text): directory
-- show indexed_before (count): indexed before
-- show entered (count): entered
-- show fell_out (count): fell out
-- show retired (count): retired
-- show indexed (count): indexed
-- show share_fell_out (share): of indexed before
select
  website_id,
  directory_of(url) as directory,
  count_if(was_indexed)::integer as indexed_before,
  count_if(move = 'first_inspected')::integer as first_inspected,
  count_if(move = 'entered')::integer as entered,
  count_if(move = 'fell_out')::integer as fell_out,
  count_if(move = 'retired')::integer as retired,
  count_if(is_indexed)::integer as indexed,
  round(fell_out / nullif(count_if(was_indexed), 0), 4) as share_fell_out,
  count_if(move = 'returned')::integer as returned
from index_moves($since::date, $until::date)
where is_website(website_id, $website::varchar)
group by website_id, directory_of(url)
having fell_out > 0
order by fell_out desc, website_id, directory
limit $limit::bigint
