-- What a URL is built like: its path with numbers as `{n}`, ids as `{id}`, and names of pages as `{slug}`, and the names of
-- its parameters. `/blog/2025/red-shoes-12.html?page=2` is `/blog/{n}/{slug}.html?page`.
create or replace macro template_of(url) as concat(
  array_to_string(
    list_transform(
      string_split(path_of(url), '/'),
      lambda segment, place: case
        when segment = '' then ''
        when regexp_full_match(segment, '[0-9]+') then '{n}'
        when regexp_full_match(segment, '[0-9a-fA-F]{12,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}') then '{id}'
        when regexp_matches(segment, '[-_%0-9.]')
          or place = len(string_split(path_of(url), '/'))
          then '{slug}' || regexp_extract(segment, '[.][a-zA-Z][a-zA-Z0-9]{1,4}$')
        else segment
      end
    ),
    '/'
  ),
  '?' || nullif(
    array_to_string(regexp_extract_all(regexp_extract(url, '[?]([^#]*)', 1), '(?:^|&)([^=&]+)', 1), '&'), ''
  )
)
