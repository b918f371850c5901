-- The pages of `listed`.
select count(*)::integer as "count" from listed
