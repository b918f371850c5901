-- In one clause, that hardly any of the pages that changed on one night was crawled since the night before; null unless
-- they are many, and at least nine in ten of them were not.
create or replace macro uncrawled_clause(pages, uncrawled) as case
  when pages < 10 or uncrawled < 0.9 * pages then null
  when uncrawled = pages then format('none of the {:,} was crawled since', pages)
  else format('{:,} of the {:,} were not crawled since', uncrawled, pages)
end
