-- The span that the days since the last crawl of a page belong to; `unknown` for a page of which there is no data that could
-- name a crawl.
create or replace macro crawl_span(status, days) as
  if(days is null and status not in ('indexed', 'not_indexed'), 'unknown', age_span(days))
