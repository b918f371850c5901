-- The name of a place without its numbers, which files of days and parts do not share.
create or replace temp macro family_of(source) as regexp_replace(source, '[0-9]+', '0', 'g')
