-- What was seen when a page fell out of the index, in one line: its coverage state before and after, and what is
-- unusual about the circumstances. None of it need be the cause.
create or replace macro fall_explained(
  from_state, to_state, fell_at, reported_at, fetch_status, is_blocked, is_allowed, url, engine_canonical, user_canonical
) as concat_ws(
  '; ',
  coalesce(from_state, '(none)') || ' → ' || coalesce(to_state, '(none)'),
  fall_circumstances(
    fell_at, reported_at, fetch_status, is_blocked, is_allowed, url, engine_canonical, user_canonical
  )
)
