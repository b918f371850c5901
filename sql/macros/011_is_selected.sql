-- Whether a page is among those that a list is cut to: by a directory of its URL's path, by a part of its URL in any
-- case, by its coverage state, `(none)` without one. Null cuts nothing. `/` stands for the pages at the root; any other
-- directory for all that is below it.
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
  and (asked_state is null or lower(coalesce(state, '(none)')) = lower(asked_state))
