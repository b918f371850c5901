-- How many pages are `selected`.
select count(*)::integer as "count" from selected
