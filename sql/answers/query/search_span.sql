-- In words, which days of search analytics an answer covers (null: none), and which are known: those of one type (null: of
-- any). It covers those whose day, week or month starts from `since` to `until`, but for those that are unknown.
select
  'Search analytics of ' || if("first" = "last", "first"::varchar, "first" || ' to ' || "last") || ', '
  || coalesce('preliminary from ' || first_preliminary || ' on.', 'final.')
  || if(
    days_unknown = 0,
    '',
    ' ' || plural(days_unknown, 'day') || if(days_unknown = 1, ' is', ' are') || ' unknown, the last one ' || last_unknown
    || ': Google gave no figures, or has corrected them.'
  ) as covered,
  coalesce(
    'Search analytics are known from ' || known_since || ' to ' || known_until
    || '; `google.history` sets how far back `sync` fetches them.',
    'No day of search analytics is known: `sync` fetches them for Search Console alone.'
  ) as known
from (
  select
    min("date") filter (is_covered and unknown is null) as "first",
    max("date") filter (is_covered and unknown is null) as "last",
    min("date") filter (is_covered and not is_final) as first_preliminary,
    (count(distinct "date") filter (is_covered and unknown is not null)) as days_unknown,
    max("date") filter (is_covered and unknown is not null) as last_unknown,
    min("date") filter (unknown is null) as known_since,
    max("date") filter (unknown is null) as known_until
  from (
    select
      *,
      -- What is none of them, the analysis itself refuses.
      date_trunc(if($by in ('week', 'month'), $by, 'day'), "date")::date
        between coalesce($since::date, '-infinity') and $until::date as is_covered
    from search_dates
    where
      is_website(website_id, $website::varchar)
      and "type" = coalesce($type, "type")
      and (is_final or not $only_final)
  )
)
