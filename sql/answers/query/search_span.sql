-- The first and the last day of search analytics that an answer covers, and the first of them that may still change: days of
-- one type (null: of any) whose day, week or month starts from `since` to `until`. Then the ends of all known days.
select
  min("date") filter (is_covered) as "first",
  max("date") filter (is_covered) as "last",
  min("date") filter (is_covered and not is_final) as first_preliminary,
  min("date") as known_since,
  max("date") as known_until
from (
  select
    *,
    date_trunc($by, "date")::date between coalesce($since::date, '-infinity') and $until::date as is_covered
  from search_dates
  where
    is_website(website_id, $website::varchar)
    and "type" = coalesce($type, "type")
    and (is_final or not $only_final)
)
