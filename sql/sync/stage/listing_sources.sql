-- The places that named the pages of the kept walk.
select unnest(source) from walk_lines where kind = 'source'
