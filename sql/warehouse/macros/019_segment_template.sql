-- The template of one path segment: a number, an id, a page name (the last segment, or one with digits or punctuation),
-- or the segment itself.
create or replace macro segment_template(segment, is_last) as case
  when segment = '' then ''
  when regexp_full_match(segment, '[0-9]+') then '{n}'
  when regexp_full_match(segment, '[0-9a-fA-F]{12,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}') then '{id}'
  when is_last or regexp_matches(segment, '[-_%0-9.]')
    then '{slug}' || regexp_extract(segment, '[.][a-zA-Z][a-zA-Z0-9]{1,4}$')
  else segment
end
