-- The number of pages in `listed`.
select count(*)::integer as "count" from listed
