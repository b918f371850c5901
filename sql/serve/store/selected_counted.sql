-- The number of pages in `selected`.
select count(*)::integer as "count" from selected
