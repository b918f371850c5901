-- The directories of a URL's path, of every depth, slashes included: `/`, `/docs/`, `/docs/v1/`.
create or replace macro directories_of(url) as
  list_transform(
    range(1, len(string_split(path_of(url), '/'))),
    lambda depth: array_to_string(string_split(path_of(url), '/')[:depth], '/') || '/'
  )
