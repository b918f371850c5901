-- What is unusual about the circumstances in which a page fell out of the index, in one line: what its last report says
-- (null time: no report), and its canonical. Null if the page was fetched, is allowed, and is its own canonical.
create or replace macro fall_circumstances(
  fell_at, reported_at, fetch_status, is_blocked, is_allowed, url, engine_canonical, user_canonical
) as nullif(concat_ws(
  '; ',
  case
    when reported_at is null then 'no report yet'
    when fetch_status is distinct from 'Successful' then 'fetch: ' || coalesce(fetch_status, '(none)')
  end,
  if(is_blocked, 'blocked by robots.txt', null),
  if(is_allowed is false, 'indexing not allowed', null),
  if(reported_at < fell_at, 'report older than the fall', null),
  case
    when engine_canonical <> url then 'canonical: ' || engine_canonical
    when engine_canonical is null and user_canonical <> url then 'declared canonical: ' || user_canonical
  end
), '')
