-- Whether a page matches the filters of a list: a directory of its URL's path, part of its URL (case-insensitive), and
-- its coverage state in words; `(none)` for pages without one, for whatever reason. A null filter matches everything. `/` means the pages at the
-- root; any other directory means all pages below it.
create or replace macro is_selected(url, state, directory, part, asked_state) as
  (
    directory is null
    or directory_of(url) = directory
    or (
      trim(directory, '/') <> ''
      and starts_with(path_of(url), '/' || trim(directory, '/') || '/')
    )
  )
  and (part is null or contains(lower(url), lower(part)))
  and (
    asked_state is null
    or lower(state) = lower(asked_state)
    or (asked_state = '(none)' and coalesce(state, 'no data') in ('no data', 'data lost', 'not inspected'))
  )
