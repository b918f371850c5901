-- Stands in for the table that stage/doubled_urls makes of a journal: no URL is listed twice.
create or replace temp view doubled_urls as
select null::varchar as url, null::integer as last_position, null::integer as occurrences
where false
