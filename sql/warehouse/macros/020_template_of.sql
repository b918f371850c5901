-- The template of a URL: its path with numbers as `{n}`, ids as `{id}` and page names as `{slug}`, followed by the
-- names of its parameters. `/blog/2025/red-shoes-12.html?page=2` is `/blog/{n}/{slug}.html?page`.
create or replace macro template_of(url) as concat(
  array_to_string(
    list_concat(
      list_transform(string_split(path_of(url), '/')[:-2], lambda segment: segment_template(segment, false)),
      list_transform(string_split(path_of(url), '/')[-1:], lambda segment: segment_template(segment, true))
    ),
    '/'
  ),
  '?' || nullif(
    array_to_string(regexp_extract_all(regexp_extract(url, '[?]([^#]*)', 1), '(?:^|&)([^=&]+)', 1), '&'), ''
  )
)
