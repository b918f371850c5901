-- What is known of the circumstances in which a page fell out of the index, in one line: what its last report says (a null
-- time: there is none), and its canonical.
create or replace macro fall_circumstances(
  fell_at, reported_at, fetch_status, is_blocked, is_allowed, url, engine_canonical, user_canonical
) as concat_ws(
  '; ',
  if(reported_at is null, 'no report yet', 'fetch: ' || coalesce(fetch_status, '(none)')),
  case when is_blocked then 'blocked by robots.txt' when not is_blocked then 'allowed by robots.txt' end,
  if(is_allowed is false, 'indexing not allowed', null),
  if(reported_at < fell_at, 'report older than the fall', null),
  case
    when engine_canonical = url then 'canonical: itself'
    when engine_canonical is not null then 'canonical: ' || engine_canonical
    when user_canonical <> url then 'declared canonical: ' || user_canonical
  end
)
